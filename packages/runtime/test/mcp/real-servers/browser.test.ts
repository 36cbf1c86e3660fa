import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMcpManager } from "keelson/mcp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serve } from "../http-servers.ts";
import { isWithoutBrowser, needsBrowser } from "../peers.ts";
import { browserServer } from "./real-servers.ts";

let folder = "";
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "keelson-browser-"))));
afterEach(() => rm(folder, { recursive: true }));

describe.skipIf(isWithoutBrowser)(`the server that works a browser${needsBrowser}`, () => {
  it("opens a page, clicks on it, reads what that changed, and shows it, and leaves no process", async () => {
    await using site = await serve((_, response) => void response.setHeader("content-type", "text/html").end(PAGE));
    const manager = createMcpManager({ servers: { browser: browserServer(folder) } });
    const use = async (tool: string, input: object = {}) => {
      const { content, isError } = await manager.callTool("browser", tool, { ...input });
      expect(isError, JSON.stringify(content)).toBe(false);
      return content;
    };
    const page = async (): Promise<string> => String((await use("browser_snapshot"))[0]?.["text"]);
    await use("browser_navigate", { url: site.url });
    expect(await page()).toContain("Nobody was here.");
    await use("browser_click", { element: "the button", target: "button" });
    expect(await page()).toContain("Somebody was here.");
    const image = (await use("browser_take_screenshot")).find(({ type }) => type === "image");
    expect(image).toMatchObject({ mimeType: "image/png" });
    const png = Buffer.from(String(image?.["data"]), "base64");
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    // The program and its browser, whose profile is in the folder.
    expect(await processesNaming(folder)).toBeGreaterThan(1);
    await manager[Symbol.asyncDispose]();
    expect(await processesNaming(folder)).toBe(0);
  }, 90_000);
});

const PAGE = `<!doctype html><title>Counter</title><p id="count">Nobody was here.</p>
<button onclick="document.getElementById('count').textContent = 'Somebody was here.'">Come in</button>`;

/** How many processes of this machine were started with this text among their arguments. */
async function processesNaming(text: string): Promise<number> {
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(processes.map((id) => readFile(`/proc/${id}/cmdline`, "latin1").catch(() => "")));
  return lines.filter((line) => line.includes(text)).length;
}
