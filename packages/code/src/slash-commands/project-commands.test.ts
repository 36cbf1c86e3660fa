import { describe, expect, it } from "vitest";
import type { FoundItem } from "../settings/found-item.ts";
import type { ServerState } from "../servers/servers-of-runs.ts";
import { createStyle } from "../text/style.ts";
import type { Prompt } from "./slash-command.ts";
import { projectCommands } from "./project-commands.ts";

const FILES: readonly FoundItem[] = [
  { file: "/p/AGENTS.md", isUsed: true, reason: "instructions to the agent" },
  { file: "/p/CLAUDE.md", isUsed: false, reason: "not trusted as it is: keelson trust accept\u001b[2J" },
];
const NOTES: ServerState = {
  server: { name: "notes", scope: "user", file: "/h/mcp.json", config: { type: "stdio", command: "notes" }, state: "usable" },
  status: { name: "notes", state: "connected", callsSucceeded: 0, callsFailed: 0, enabled: true, protocolVersion: "2026-06-18" },
  tools: [{ name: "add", description: "Adds a note. It is kept.", inputSchema: {} }],
};
const WEB: ServerState = {
  server: {
    name: "web",
    scope: "project",
    file: "/p/.mcp.json",
    config: { type: "http", url: "https://u:p@x.example/mcp?key=1" },
    state: "usable",
  },
  status: { name: "web", state: "disconnected", callsSucceeded: 0, callsFailed: 0, enabled: true, problems: ["it wants a token"] },
};

function setUp(files = FILES) {
  const edited: string[] = [];
  const commands = projectCommands({
    command: "keelson",
    servers: async () => ({ servers: [NOTES, WEB], problems: [] }),
    instructions: async () => files,
    skills: async () => [{ file: "/h/skills/a/SKILL.md", isUsed: true, reason: "the skill a" }],
    hooks: async () => [
      {
        when: "PreToolUse bash",
        command: "./check.sh",
        args: ["-x"],
        file: "/p/.keelson/hooks.json",
        state: "untrusted",
        path: ".keelson/hooks.json",
      },
      { when: "Stop", command: "say done", file: "/h/settings.json", state: "own" },
    ],
    editFile: async (path) => (edited.push(path), ["edited"]),
    shownFile: (file) => file.replace("/p/", "").replace("/h/", "~/"),
  });
  const prompt = { style: createStyle(false), columns: 80 } as Prompt;
  const run = async (name: string, argument = ""): Promise<readonly string[]> =>
    (await commands.find((one) => one.name === name)?.execute(argument, prompt)) ?? [];
  return { run, edited };
}

describe("/mcp", () => {
  it("shows each server with its state and tools, and how to log in to one that is not connected", async () => {
    const shown = (await setUp().run("mcp")).join("\n");
    expect(shown).toMatch(/notes .*stdio[^]*connected \(protocol 2026-06-18\) · tools: add\n/);
    expect(shown).toMatch(
      /web .*https:\/\/x\.example\/mcp\?…[^]*disconnected\n {2}it wants a token\n {2}log in: keelson mcp login web · try it: keelson mcp test web/,
    );
    expect(shown).not.toMatch(/u:p@|key=1/);
  });

  it("shows the tools of one server, and names the servers if there is none of a name", async () => {
    const { run } = setUp();
    expect(await run("mcp", "notes")).toEqual(["notes: 1 tool", "  add  Adds a note."]);
    expect(await run("mcp", "other")).toEqual(['there is no server "other"; there are notes, web']);
  });
});

describe("/memory", () => {
  it("shows which files of instructions are used, and why others are not, with numbers", async () => {
    expect(await setUp().run("memory")).toEqual([
      "1  ✔ AGENTS.md  instructions to the agent",
      "2  – CLAUDE.md  not used: not trusted as it is: keelson trust accept",
      "/memory edit n opens one in your editor",
    ]);
  });

  it("opens the file of a number, and the only one without a number", async () => {
    const { run, edited } = setUp();
    expect(await run("memory", "edit 2")).toEqual(["edited"]);
    expect(await run("memory", "edit")).toEqual(["give the number of a file: /memory edit 1 to 2"]);
    expect(await run("memory", "edit 3")).toEqual(["give the number of a file: /memory edit 1 to 2"]);
    const one = setUp(FILES.slice(0, 1));
    await one.run("memory", "edit");
    expect([edited, one.edited]).toEqual([["/p/CLAUDE.md"], ["/p/AGENTS.md"]]);
  });

  it("says what it takes if it is not understood, and what is read if there is nothing", async () => {
    expect(await setUp().run("memory", "delete 1")).toEqual([expect.stringContaining('"delete 1" is not understood')]);
    expect(await setUp([]).run("memory")).toEqual([expect.stringContaining("AGENTS.md in the project is read")]);
  });
});

it("/skills shows each skill with its file", async () => {
  expect(await setUp().run("skills")).toEqual(["✔ ~/skills/a/SKILL.md  the skill a"]);
});

it("/hooks shows when a hook runs, what it runs, where it is from and how it gets trusted", async () => {
  expect(await setUp().run("hooks")).toEqual([
    "– PreToolUse bash  ./check.sh -x",
    "  .keelson/hooks.json · not trusted: keelson trust accept .keelson/hooks.json",
    "✔ Stop  say done",
    "  ~/settings.json · yours",
  ]);
});
