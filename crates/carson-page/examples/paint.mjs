// How soon Chromium paints something of a page that is served: node paint.mjs MODULES URL TOKEN FIRING.
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, url, token, firing] = process.argv.slice(2);
const puppeteer = createRequire(join(modules, "index.js"))("puppeteer-core");
const browser = await puppeteer.launch({
  executablePath: process.env.CARSON_TEST_CHROMIUM ?? "/usr/bin/chromium",
  args: process.getuid() === 0 ? ["--no-sandbox"] : [],
});
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 800 });
await page.goto(url);
await page.type("#token", token);
await Promise.all([page.waitForNavigation(), page.click("main button")]);
for (const path of ["/", firing, "/stops", "/outcomes"]) {
  const paints = [];
  for (let n = 0; n < 20; n += 1) {
    await page.goto(url + path, { waitUntil: "load" });
    const paint = await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
    paints.push(await paint.jsonValue());
  }
  paints.sort((one, other) => one - other);
  console.log(`${path.slice(0, 20).padEnd(24)} first paint ${paints[10].toFixed(0)} ms, the slowest ${paints[19].toFixed(0)} ms`);
}
await browser.close();
