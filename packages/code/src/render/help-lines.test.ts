import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../text/display-width.ts";
import { createStyle } from "../text/style.ts";
import { helpLines, type ListedCommand } from "./help-lines.ts";

const COMMANDS: readonly ListedCommand[] = [
  { name: "quit", description: "leave", group: "program" },
  { name: "model", argumentHint: "[provider/id]", description: "show or change the model", group: "agent" },
  { name: "clear", description: "begin a new session", group: "conversation" },
  { name: "fix", description: "fix an issue", file: ".keelson/commands/fix.md" },
];
const KEYS = [{ key: "Ctrl-R", does: "search earlier messages" }];

const lines = (columns: number, commands = COMMANDS) => helpLines({ columns, style: createStyle(false), commands, keys: KEYS });

describe("helpLines", () => {
  it("lists the commands by group, those of files with their source, then the keys", () => {
    expect(lines(80)).toEqual([
      "Conversation",
      "/clear                begin a new session",
      "",
      "Model and permissions",
      "/model [provider/id]  show or change the model",
      "",
      "Program",
      "/quit                 leave",
      "",
      "Commands from files",
      "/fix                  fix an issue (.keelson/commands/fix.md)",
      "",
      "Keys",
      "Ctrl-R                search earlier messages",
    ]);
  });

  it("puts the words below a command where there is little room, and fits every width", () => {
    expect(lines(40)).toEqual(expect.arrayContaining(["/model [provider/id]", "  show or change the model"]));
    for (const columns of [40, 60, 80, 120]) for (const line of lines(columns)) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
  });

  it("lets no control character of a file of commands reach the terminal", () => {
    const shown = lines(80, [{ name: "x", description: "a\u001b[2Jb", file: "c\u0007" }]).join("\n");
    expect(stripVTControlCharacters(shown)).toBe(shown);
  });
});
