import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { trustAll } from "../trust/project-trust.ts";
import { terminalSettings } from "./terminal-settings.ts";

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "keelson-terminal-settings-")));
});
afterEach(() => rmSync(home, { recursive: true }));

const read = (environment: { readonly [name: string]: string } = {}, given?: { readonly screenReader: boolean }) =>
  terminalSettings({ home, environment: { HOME: home, ...environment }, trust: trustAll(home) }, given);

describe("terminalSettings", () => {
  it("has notifications, the theme of the terminal, and output for a screen by default", async () => {
    expect(await read()).toEqual({ theme: undefined, notifications: "on", screenReader: false });
  });

  it("takes what the person wrote into their settings", async () => {
    writeFileSync(join(home, "settings.json"), JSON.stringify({ theme: "none", notifications: "off", screenReader: true }));
    expect(await read()).toEqual({ theme: "none", notifications: "off", screenReader: true });
  });

  it("writes for a screen reader if the option or a terminal without a cursor asks for it", async () => {
    expect((await read({}, { screenReader: true })).screenReader).toBe(true);
    expect((await read({ TERM: "dumb" })).screenReader).toBe(true);
    expect((await read({ TERM: "xterm" })).screenReader).toBe(false);
  });
});
