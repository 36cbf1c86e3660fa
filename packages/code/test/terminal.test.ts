import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { sampleSize } from "../../../test/tier.ts";
import { type Workspace, openWorkspace } from "./keelson-process.ts";
import { HEARD, openTerminal } from "./keelson-terminal.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const messagesOf = (workspace: Workspace): string => JSON.stringify(workspace.server.requests.at(-1)?.body);

describe("a question in a terminal", () => {
  it("is not answered by what was typed before it could be read: the draft waits, and the command does not run", async () => {
    const release = Promise.withResolvers<void>();
    await using workspace = await openWorkspace([
      async () => {
        await release.promise;
        return { toolCalls: [{ name: "bash", input: { command: "touch ran" } }] };
      },
      { text: "As you like." },
    ]);
    await using terminal = openTerminal(workspace, [], { timeByHand: true });
    await terminal.until(/› $/m);
    terminal.type("clean up\r");
    await terminal.until(/› clean up/);
    terminal.type("a better idea: ");
    await terminal.until(/› a better idea:/);
    release.resolve();
    await terminal.until(/\? `touch ran` writes `ran`/);
    terminal.type("use pnpm instead\r");
    terminal.pause();
    await terminal.until(HEARD);
    expect(terminal.rows().at(-1)).toMatch(/^\[draft kept\] .*› ?$/);
    expect(terminal.rows().join("\n")).not.toContain("use pnpm");
    terminal.type("n\r");
    await terminal.until(/As you like\.[\s\S]*› a better idea: use pnpm instead/);
    expect([await exists(join(workspace.project, "ran")), workspace.server.requests.length]).toEqual([false, 2]);
    terminal.type("\u0015/quit\r");
    expect(await terminal.exited).toBe(0);
  });

  it("is decided by an exact answer alone, whatever is typed before it and across it", async () => {
    let release = Promise.withResolvers<void>();
    let asked = 0;
    await using workspace = await openWorkspace(async () => {
      const gate = release.promise;
      await gate;
      asked += 1;
      // A call that succeeds in each turn: a run that is only refused what it wants ends by itself.
      const look = { name: "glob", input: { pattern: `ran-${asked}` } };
      return { toolCalls: [look, { name: "bash", input: { command: `touch ran-${asked}` } }] };
    });
    await using terminal = openTerminal(workspace, ["--max-turns", "1000"], { rows: 24, timeByHand: true });
    await terminal.until(/› $/m);
    terminal.type("clean up\r");
    const words = fc.stringMatching(/^[ynaebw us]{1,8}$/);
    const across = fc.array(fc.oneof(words, fc.constantFrom("y\r", "a\r", "always\r", "\r", "yes\r", "\u001b[200~y\ry\r\u001b[201~")), {
      minLength: 1,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(fc.option(words), across, async (before, pieces) => {
        const round = asked + 1;
        if (before !== null) terminal.type(before);
        release.resolve();
        for (const piece of pieces) terminal.type(piece);
        await terminal.until(new RegExp(`\\? \`touch ran-${round}\` writes`));
        release = Promise.withResolvers();
        for (const piece of pieces) terminal.type(piece);
        terminal.pause();
        await terminal.until(new RegExp(`\\? \`touch ran-${round}\` writes[\\s\\S]*${HEARD.source}`));
        expect([await exists(join(workspace.project, `ran-${round}`)), asked]).toEqual([false, round]);
        terminal.type("no\r");
        await terminal.until(new RegExp(`✗ bash touch ran-${round}\\b`));
        await vi.waitUntil(() => workspace.server.requests.length > round, 60_000);
        expect(await exists(join(workspace.project, `ran-${round}`))).toBe(false);
      }),
      { numRuns: sampleSize("text typed across a question", { test: 8, ci: 25, soak: 100 }), endOnFailure: true },
    );
  });

  it("leaves no edited arguments in the line when Ctrl-C comes in between", async () => {
    await using workspace = await openWorkspace([
      { toolCalls: [{ name: "bash", input: { command: "touch ran" } }] },
      { text: "Good morning." },
    ]);
    await using terminal = openTerminal(workspace, []);
    await terminal.until(/› $/m);
    terminal.type("clean up\r");
    await terminal.until(HEARD);
    terminal.type("e\r");
    await terminal.until(/arguments as JSON › \{"command":"touch ran"\}/);
    terminal.type("\u0003");
    await terminal.until(/✗ stopped[\s\S]*\n› ?$/);
    terminal.type("hello\r");
    await terminal.until(/Good morning\./);
    const { messages } = workspace.server.requests.at(-1)?.body as { readonly messages: readonly { readonly content: unknown }[] };
    expect(JSON.stringify(messages.at(-1))).toContain('"hello"');
    expect(await exists(join(workspace.project, "ran"))).toBe(false);
  });

  it("whose arguments are edited runs what was edited", async () => {
    await using workspace = await openWorkspace([{ toolCalls: [{ name: "bash", input: { command: "touch ran" } }] }, { text: "Done." }]);
    await using terminal = openTerminal(workspace, []);
    await terminal.until(/› $/m);
    terminal.type("clean up\r");
    await terminal.until(HEARD);
    terminal.type("e\r");
    await terminal.until(/touch ran"\}$/m);
    terminal.type('\u007f\u007f2"}\r');
    await terminal.until(/Done\./);
    expect(await Promise.all([exists(join(workspace.project, "ran2")), exists(join(workspace.project, "ran"))])).toEqual([true, false]);
  });

  it("shows all of what would run, however narrow the terminal is", async () => {
    const command = "npm test -- --reporter=verbose --an-option=with-a-long-value && rm -rf build; echo done";
    await using workspace = await openWorkspace([{ toolCalls: [{ name: "bash", input: { command } }] }]);
    await using terminal = openTerminal(workspace, ["-C", workspace.project], { columns: 40 });
    await terminal.until(/› $/m);
    terminal.type("test it\r");
    await terminal.until(HEARD);
    const shown = terminal
      .rows()
      .filter((row) => row.includes("│"))
      .map((row) => row.replace(/^.*│ /, ""))
      .join("");
    expect(shown.replaceAll(" ", "")).toBe(command.replaceAll(" ", ""));
  });
});

describe("always, in a terminal", () => {
  it("allows the rule that was shown, in this session: that command runs unasked from then on, and another is asked about [AV-02]", async () => {
    const calls = ["npm test -- --first; echo told", "FOO=1 npm test 2>&1 | tail -5", "rm -rf build"];
    await using workspace = await openWorkspace(
      [...calls.map((command) => ({ toolCalls: [{ name: "bash", input: { command } }] })), { text: "As you like." }],
      { "package.json": '{"scripts":{"test":"echo tested >> log"}}', "build/x": "" },
    );
    await using terminal = openTerminal(workspace, []);
    await terminal.until(/› $/m);
    terminal.type("test it\r");
    await terminal.until(HEARD);
    expect(terminal.rows().join("\n")).toMatch(/`npm test -- --first` is not allowed yet/);
    terminal.type("a\r");
    await terminal.until(
      /1 {2}exactly this[\s\S]*2 {2}this program and subcommand with any words, even those that run programs\n {5}bash\(npm test \*\*\)[\s\S]*\[1-2\].*› $/,
    );
    terminal.type("2\r");
    await terminal.until(/allow › bash\(npm test \*\*\)$/m);
    terminal.type("\r");
    await terminal.until(new RegExp(`\\? \`rm -rf build\` deletes \`build\`[\\s\\S]*${HEARD.source}`));
    expect(await readFile(join(workspace.project, "log"), "utf8")).toBe("tested --first\ntested\n");
    terminal.type("n\r");
    await terminal.until(/As you like\./);
    expect(await exists(join(workspace.project, "build"))).toBe(true);
    terminal.type("/quit\r");
    expect(await terminal.exited).toBe(0);
    // It was for the session.
    expect((await workspace.keelson("permissions")).stdout).toMatch(/^Nothing is always allowed in this project/);
  });
});

describe("Esc and Ctrl-C in a terminal", () => {
  it.each([
    ["Esc", "\u001b"],
    ["Ctrl-C", "\u0003"],
  ])("%s ends the model's response at once, and keeps what it said and the draft", async (_name, key) => {
    await using workspace = await openWorkspace([
      { text: "Speaking to myself for ever.", misbehave: { stall: "in-body" } },
      { text: "Going on." },
    ]);
    await using terminal = openTerminal(workspace, []);
    await terminal.until(/› $/m);
    terminal.type("go\r");
    await terminal.until(/^Speaking/m);
    terminal.type("and then");
    await terminal.until(/› and then$/m);
    terminal.type(key);
    await terminal.until(/^Speaking[\s\S]*✗ stopped[\s\S]*\n› and then$/m);
    expect(terminal.transcript()).not.toContain("stopping after this step");
    terminal.type("?\r");
    await terminal.until(/Going on\./);
    expect(messagesOf(workspace)).toMatch(/Speaking[\s\S]*and then\?/);
    terminal.type("/quit\r");
    expect(await terminal.exited).toBe(0);
  });

  it("Ctrl-C leaves a command that runs to its end, Ctrl-C again kills it", async () => {
    const command = "echo here; while [ ! -e release ]; do sleep 0.05; done; touch finished";
    await using workspace = await openWorkspace([{ toolCalls: [{ name: "bash", input: { command } }] }, { text: "never asked" }]);
    await using terminal = openTerminal(workspace, ["--allow", "bash(*)", "--permission-mode", "bypass-all"]);
    await terminal.until(/› $/m);
    terminal.type("go\r");
    await terminal.until(/bash: here/);
    terminal.type("\u0003");
    await terminal.until(/stopping/);
    terminal.type("\u0003");
    await terminal.until(/✗ aborted[\s\S]*\n› $/);
    expect([await exists(join(workspace.project, "finished")), workspace.server.requests.length]).toEqual([false, 1]);
    terminal.type("/quit\r");
    expect(await terminal.exited).toBe(0);
  });
});

describe("sessions in a terminal", () => {
  it("are made by the first message, so that opening and leaving makes none", async () => {
    await using workspace = await openWorkspace([]);
    for (const leave of ["/quit\r", "\u0004", "\u0003\u0003"]) {
      await using terminal = openTerminal(workspace, []);
      await terminal.until(/› $/m);
      terminal.type(leave);
      expect([await terminal.exited, terminal.transcript()]).toEqual([0, expect.not.stringContaining("go on with:")]);
    }
    expect((await workspace.keelson("sessions", "list", "--all", "--json")).stdout).toBe("[]\n");
  });

  it("are offered with numbers by -r alone, for a screen reader", async () => {
    await using workspace = await openWorkspace((request) => ({ text: `Answer ${request.index}.` }));
    for (const task of ["fix the build", "write the docs"]) await workspace.keelson("-p", task);
    await using terminal = openTerminal(workspace, ["-r", "--screen-reader"], { columns: 60 });
    await terminal.until(/continue \[1-2\].*›$/m);
    expect(terminal.rows().join("\n")).toMatch(
      /1 {2}\S{36}\n {5}write the docs\n.* ago · 1 turn.*\n {5}goes on with about .* tokens.*\n2 {2}\S{36}\n {5}fix the build/,
    );
    terminal.type("7\r");
    await terminal.until(/give a number/);
    terminal.type("2\r");
    await terminal.until(/› fix the build[\s\S]*Answer 0\./);
    terminal.type("and test it\r");
    await terminal.until(/Answer 2\./);
    expect(messagesOf(workspace)).toMatch(/fix the build[\s\S]*and test it/);
    terminal.type("/quit\r");
    expect(await terminal.exited).toBe(0);
  });
});
