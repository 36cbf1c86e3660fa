import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { PERMISSION_MODES } from "@keelson/protocol";
import { KEYS } from "../../src/editor/keys.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { THEME_NAMES } from "../../src/settings/theme-names.ts";
import { expandCommand, readMarkdownCommand } from "../../src/slash-commands/markdown-command.ts";
import { screenIn, screenNames, withKeys } from "./guide-page.ts";
import { takeScreen } from "./scene.ts";
import { SCENES } from "./scenes.ts";

// Every screen is taken from a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const page = readFileSync(new URL("../../../../docs/coding-agent.md", import.meta.url), "utf8");

describe("docs/coding-agent.md", () => {
  it.each(SCENES)("shows the screen $name as the program shows it (else: npm run guide-screens)", async (scene) => {
    expect(screenIn(page, scene.name)).toBe(await takeScreen(scene));
  });

  it("shows every screen once", () => {
    expect(screenNames(page).toSorted()).toEqual(SCENES.map(({ name }) => name).toSorted());
  });

  it("lists the keys of the prompt as they are (else: npm run guide-screens)", () => {
    expect(page).toBe(withKeys(page, KEYS));
  });

  it("names every theme and every permission mode", () => {
    for (const name of [...THEME_NAMES, ...PERMISSION_MODES]) expect(page).toContain(`\`${name}\``);
  });

  it("shows settings that are used as they are", () => {
    const entries = readSettings(codeOf("json"));
    expect(entries.filter(({ kind }) => kind === "unused")).toEqual([]);
    expect(entries).toHaveLength(6);
  });

  it("shows a command whose file is used as it is", () => {
    const command = readMarkdownCommand(codeOf("markdown"), { name: "review", file: "review.md" });
    expect(command).toMatchObject({ description: "review a file", argumentHint: "[file]", unused: [] });
    expect(expandCommand(command.text, "src/cart.js")).toMatch(
      /^Review src\/cart\.js for errors\.[^]*run these commands[^]*`git diff main -- src\/cart\.js`[^]*Read these files first[^]*: CONTRIBUTING\.md$/,
    );
  });
});

/** Returns the only code of a language on the page. */
function codeOf(language: string): string {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(?<code>[^]*?)^\`\`\`$`, "gm"))];
  expect(blocks).toHaveLength(1);
  return blocks[0]?.groups?.["code"] ?? "";
}
