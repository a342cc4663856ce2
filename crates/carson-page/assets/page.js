// What is live: a transcript that grows, and a Tonight that is up to date. Every page works without.
"use strict";

(() => {
  const element = (name, text, kind) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  // What a session says arrives as texts, and is put in as texts.
  const follow = (list) => {
    const state = document.getElementById("state");
    const hint = document.getElementById("live");
    const source = new EventSource(list.dataset.live);
    if (hint) hint.textContent = "It runs: what is said is added here.";
    source.addEventListener("said", (event) => {
      const heard = JSON.parse(event.data);
      const low = window.innerHeight + window.scrollY > document.body.scrollHeight - 200;
      for (const one of heard.said) {
        const item = element("li", "", one.kind);
        const who = element("p", "", "who");
        who.append(element("span", one.session), " " + one.who);
        item.append(who, element("pre", one.cut ? one.text + "\n… the rest is in the transcript's file" : one.text));
        list.append(item);
      }
      if (state) state.textContent = heard.state;
      // Whoever reads further up is left there.
      if (low && heard.said.length) list.lastElementChild.scrollIntoView({ block: "nearest" });
    });
    source.addEventListener("end", () => {
      source.close();
      if (hint) hint.textContent = "It has ended.";
    });
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED && hint) hint.textContent = "The connection is gone: load the page again.";
    });
  };

  // A page that nobody works in is put in its place as it is now.
  const refresh = (part) => {
    const every = Number(part.dataset.refresh) * 1000;
    const again = async () => {
      const busy = document.hidden || part.contains(document.activeElement);
      if (!busy) {
        try {
          const answer = await fetch(location.href, { redirect: "error" });
          const page = new DOMParser().parseFromString(await answer.text(), "text/html");
          const now = page.querySelector("[data-refresh]");
          if (answer.ok && now) part.replaceChildren(...now.childNodes);
        } catch {
          // The next time, perhaps.
        }
      }
      setTimeout(again, every);
    };
    setTimeout(again, every);
  };

  const list = document.querySelector("[data-live]");
  if (list && "EventSource" in window) follow(list);
  const part = document.querySelector("[data-refresh]");
  if (part) refresh(part);
})();
