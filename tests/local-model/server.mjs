// An OpenAI-compatible chat endpoint on 127.0.0.1 over one small model in this process, as llama.cpp has one.
// A tool of the tests (`cargo xtask local-model`), no part of Carson.
//
//   node server.mjs MODULES MODEL.gguf [SEED]
//
// MODULES is the directory whose node_modules has node-llama-cpp. The first line of standard output is JSON with the
// port; it ends when its standard input does, so that whoever started it takes it along. One answer at a time, each of at
// most ANSWER tokens. It has the same model under two names:
//
//   smollm2-words   refuses `tools`, as servers do whose model has no template for them
//   smollm2-calls   holds the model to a grammar by which each answer is one call of a tool, as `tool_choice` "required" does

import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const ANSWER = 160; // tokens of one answer
const CONTEXT = 8192; // tokens, as many as the model was trained with
const BODY = 4 * 1024 * 1024; // bytes of one request

const [modules, file, seed = "1"] = process.argv.slice(2);
const main = join(modules, "node_modules/node-llama-cpp/dist/index.js");
const { getLlama, LlamaGrammarEvaluationState } = await import(pathToFileURL(main).href);

// Several threads wait for one another without sleeping: on a machine that has other work they are a hundred times slower.
const threads = 1;
const llama = await getLlama({ gpu: false, build: "never", logLevel: "error", maxThreads: threads });
const model = await llama.loadModel({ modelPath: file });
const context = await model.createContext({ contextSize: Math.min(CONTEXT, model.trainContextSize), threads });
const sequence = context.getSequence();

const mark = (name) => model.tokenize(`<|im_${name}|>`, true);
// Only the marks are special: nothing that somebody says can be taken for one.
const said = (text) => model.tokenize(text, false);
const turn = (role, text) => [...mark("start"), ...said(`${role}\n${text}`), ...mark("end"), ...said("\n")];

// What there is of a conversation, in the words that this model was made for.
function conversation(messages) {
  const tokens = messages.flatMap((message) => {
    const calls = (message.tool_calls ?? []).map((call) => callText(call.function.name, call.function.arguments));
    const text = [textOf(message.content), ...calls].filter(Boolean).join("\n");
    return message.role === "tool" ? turn("user", `The tool printed:\n${text}`) : turn(message.role, text);
  });
  return [...tokens, ...mark("start"), ...said("assistant\n")];
}

const callText = (name, args) => `{"tool": ${JSON.stringify(name)}, "arguments": ${args}}`;
const textOf = (content) =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");

// A text of a schema is a string of at most so many characters: this model ends no string by itself.
function bounded(schema) {
  if (schema.type === "string" && !schema.enum) return { type: "string", minLength: 1, maxLength: 120 };
  if (schema.type === "object")
    return {
      type: "object",
      properties: Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([name]) => (schema.required ?? []).includes(name))
          .map(([name, one]) => [name, bounded(one)]),
      ),
    };
  return { type: schema.type ?? "string" };
}

const grammars = new Map();
async function grammarOf(tools) {
  const key = JSON.stringify(tools);
  if (!grammars.has(key)) {
    const calls = tools.map(({ function: { name, parameters } }) => ({
      type: "object",
      properties: { tool: { const: name }, arguments: bounded(parameters) },
    }));
    grammars.set(key, await llama.createGrammarForJsonSchema({ oneOf: calls }));
  }
  return grammars.get(key);
}

// By these the library says that a grammar is satisfied.
const END = "\n".repeat(4);

let answers = 0;

// One answer, piece by piece; `gone` says that nobody waits for it any more.
async function answer(messages, tools, say, gone) {
  const prompt = conversation(messages);
  if (prompt.length + ANSWER > context.contextSize)
    throw refusal(400, `the prompt has ${prompt.length} tokens, and the context ${context.contextSize}`);
  await sequence.adaptStateToTokens(prompt, false);
  // The last token is always read anew: its logits say what follows.
  const known = Math.min(sequence.nextTokenIndex, prompt.length - 1);
  await sequence.eraseContextTokenRanges([{ start: known, end: sequence.nextTokenIndex }]);
  const grammar = tools.length ? await grammarOf(tools) : undefined;
  const state = grammar && new LlamaGrammarEvaluationState({ model, grammar });
  answers += 1;
  // Nearer to its best it repeats itself at once, and only the loop detector has something to do.
  const temperature = grammar ? 1.3 : 0.7;
  const options = { temperature, topP: 0.95, seed: Number(seed) + answers, grammarEvaluationState: state };
  const tokens = [];
  let text = "";
  for await (const token of sequence.evaluate(prompt.slice(known), options)) {
    if (gone() || model.isEogToken(token)) break;
    tokens.push(token);
    const whole = model.detokenize(tokens);
    // Half of a character is no text yet.
    if (!whole.endsWith("\ufffd")) {
      say(whole.slice(text.length));
      text = whole;
    }
    if (tokens.length >= ANSWER || (grammar && text.endsWith(END))) break;
  }
  return { text, finish: tokens.length >= ANSWER ? "length" : "stop", read: prompt.length, wrote: tokens.length };
}

const refusal = (status, message) => Object.assign(new Error(message), { status });

async function bodyOf(request) {
  const pieces = [];
  let length = 0;
  for await (const piece of request) {
    length += piece.length;
    if (length > BODY) throw refusal(413, "the request is too long");
    pieces.push(piece);
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString());
  } catch {
    throw refusal(400, "the request is no JSON");
  }
}

// What was generated by the grammar, as a delta: a call, or words where it broke off.
function asDelta(text) {
  try {
    const { tool, arguments: args } = JSON.parse(text);
    const call = { name: tool, arguments: JSON.stringify(args) };
    return { tool_calls: [{ index: 0, id: `call_${answers}`, type: "function", function: call }] };
  } catch {
    return { content: text };
  }
}

async function chat(request, response) {
  const asked = await bodyOf(request);
  const tools = asked.tools ?? [];
  const byGrammar = asked.model === "smollm2-calls";
  if (!byGrammar && asked.model !== "smollm2-words") throw refusal(404, `there is no model ${asked.model}`);
  if (!byGrammar && tools.length) throw refusal(400, "this model does not support tools");
  if (!Array.isArray(asked.messages)) throw refusal(400, "there are no messages");
  let open = false;
  const send = (delta, more = {}) => {
    if (!open) response.writeHead(200, { "content-type": "text/event-stream" });
    open = true;
    const choices = delta ? [{ index: 0, delta, finish_reason: more.finish ?? null }] : [];
    const chunk = { id: `chat_${answers}`, object: "chat.completion.chunk", model: asked.model, choices };
    response.write(`data: ${JSON.stringify({ ...chunk, ...(more.usage ? { usage: more.usage } : {}) })}\n\n`);
  };
  const say = (content) => (byGrammar && tools.length ? undefined : send({ content }));
  const { text, finish, read, wrote } = await answer(asked.messages, byGrammar ? tools : [], say, () => response.destroyed);
  if (byGrammar && tools.length) send(asDelta(text));
  send({}, { finish });
  if (asked.stream_options?.include_usage)
    send(undefined, { usage: { prompt_tokens: read, completion_tokens: wrote, total_tokens: read + wrote } });
  response.end("data: [DONE]\n\n");
}

// One at a time: there is one sequence.
let turns = Promise.resolve();
const server = createServer((request, response) => {
  const route = `${request.method} ${request.url}`;
  if (route === "GET /v1/models") {
    const data = ["smollm2-words", "smollm2-calls"].map((id) => ({ id, object: "model" }));
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(JSON.stringify({ object: "list", data }));
  }
  turns = turns.then(async () => {
    try {
      if (route !== "POST /v1/chat/completions") throw refusal(404, `there is no ${route}`);
      await chat(request, response);
    } catch (error) {
      if (response.headersSent) return response.destroy();
      response.writeHead(error.status ?? 500, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: error.message, type: "invalid_request_error" } }));
    }
  });
});
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port, context: context.contextSize })));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
