// Drives Chromium over a page that a test serves: node browser.mjs MODULES JSON. Prints what it found, as JSON.
import { readFileSync, appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, text] = process.argv.slice(2);
const told = JSON.parse(text);
const require = createRequire(join(modules, "index.js"));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const WIDTHS = [360, 1280];
const SCHEMES = ["light", "dark"];
const PAGES = [
  "/", "/?since=7d", "/firings", `/firings/${told.done}`, `/firings/${told.done}/transcript`, `/firings/${told.done}/diff`,
  `/firings/${told.runs}/transcript`, "/roles", "/roles/docs", "/stops", "/queue", "/memory", "/memory?state=promoted",
  `/memory/${told.lesson}`, "/outcomes", "/why?what=docs", "/do/breaker-reset?role=docs", "/do/pause",
];
const PICTURES = {
  "sign-in": "/sign-in", tonight: "/", firings: "/firings", firing: `/firings/${told.done}`, transcript: `/firings/${told.done}/transcript`,
  diff: `/firings/${told.done}/diff`, roles: "/roles", role: "/roles/docs", stops: "/stops", queue: "/queue", memory: "/memory",
  lesson: `/memory/${told.lesson}`, outcomes: "/outcomes", why: "/why?what=docs", confirm: "/do/breaker-reset?role=docs",
};

const found = { serious: [], wide: [], errors: [], checked: 0 };
const browser = await puppeteer.launch({
  executablePath: process.env.CARSON_TEST_CHROMIUM ?? "/usr/bin/chromium",
  // Chromium has no sandbox for root; what is looked at here is our own page.
  args: process.getuid() === 0 ? ["--no-sandbox"] : [],
});
const must = (held, what) => { if (!held) throw new Error(what); };

const open = async (width, scheme) => {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setViewport({ width, height: 800 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  page.on("pageerror", (error) => found.errors.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") found.errors.push(message.text()); });
  return page;
};
const go = (page, path) => page.goto(told.url + path, { waitUntil: "load" });
const press = async (page, selector) => {
  await Promise.all([page.waitForNavigation({ waitUntil: "load" }), page.click(selector)]);
};
const signIn = async (page) => {
  await go(page, "/");
  await page.type("#token", told.token);
  await press(page, "main button");
  must(new URL(page.url()).pathname === "/", "signed in, and led back: " + page.url());
};
const check = async (page, path, width, scheme) => {
  await page.evaluate(axe);
  const result = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  for (const one of result.violations) {
    if (["serious", "critical"].includes(one.impact)) {
      found.serious.push({ path, width, scheme, id: one.id, nodes: one.nodes.slice(0, 3).map((node) => node.html + " " + node.failureSummary) });
    }
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (wide > 0) found.wide.push({ path, width, wide });
};

try {
  // Each page, before anything is changed.
  for (const width of WIDTHS) {
    for (const scheme of SCHEMES) {
      const page = await open(width, scheme);
      await go(page, "/sign-in");
      await check(page, "/sign-in", width, scheme);
      await signIn(page);
      for (const path of PAGES) {
        await go(page, path);
        await check(page, path, width, scheme);
        found.checked += 1;
      }
      for (const [name, path] of Object.entries(PICTURES)) {
        if (told.pictures && (scheme === "light" || name === "tonight")) {
          await go(page, path);
          mkdirSync(told.pictures, { recursive: true });
          const dark = scheme === "dark" ? "-dark" : "";
          const clip = { x: 0, y: 0, width, height: 800 };
          writeFileSync(join(told.pictures, `${name}-${width}${dark}.png`), await page.screenshot({ clip, optimizeForSpeed: false }));
        }
      }
      await page.browserContext().close();
    }
  }

  // A person who uses the keyboard comes past the menu.
  const page = await open(360, "light");
  await signIn(page);
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press("Tab");
  const first = await page.evaluate(() => document.activeElement.textContent);
  must(first === "Skip to the page", "the first stop of the keyboard: " + first);
  await page.keyboard.press("Enter");
  must((await page.evaluate(() => document.activeElement.id)) === "main", "the skip leads to the page");

  // A firing of the timeline is a link.
  await go(page, "/");
  const mark = `svg.bars a[href="/firings/${told.done}"]`;
  await page.$eval(mark, (mark) => mark.focus());
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  must(page.url().endsWith(told.done), "a mark leads to its firing: " + page.url());

  // Resets a breaker.
  await go(page, "/stops");
  await press(page, 'a[href^="/do/breaker-reset"]');
  await press(page, "form.confirm button");
  must((await page.$eval("[role=status]", (word) => word.textContent)).includes("breaker reset (docs)"), "it says what was done");

  // Promotes a lesson.
  await go(page, "/memory");
  await press(page, `a[href="/do/lesson-promote?id=${told.lesson}"]`);
  await page.type("#reason", "seen twice");
  await press(page, "form.confirm button");

  // What a session says comes while it does, as text.
  await go(page, `/firings/${told.runs}/transcript`);
  const words = "<b>live</b> " + Date.now();
  appendFileSync(told.transcript, JSON.stringify({ type: "say", text: words }) + "\n");
  await page.waitForFunction((words) => document.getElementById("transcript").textContent.includes(words), { timeout: 15000 }, words);
  must((await page.$$("#transcript b")).length === 0, "what was said is text");
  await page.browserContext().close();

  // The same without scripts.
  const plain = await open(1280, "dark");
  await plain.setJavaScriptEnabled(false);
  await signIn(plain);
  await go(plain, "/stops");
  await press(plain, 'a[href="/do/pause"]');
  await plain.type("#reason", "holidays");
  await press(plain, "form.confirm button");
  await press(plain, "form.leave button");
  must(plain.url().endsWith("/sign-in"), "signed out: " + plain.url());
  await go(plain, "/stops");
  must(plain.url().includes("/sign-in"), "and stays so");
} catch (error) {
  found.errors.push(String(error.stack ?? error));
} finally {
  await browser.close();
}
console.log(JSON.stringify(found));
