import { EnvironmentError, type ExecuteRequest, type Executor } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createProcessExecutor } from "keelson/environment";
import { parseShellLine } from "../editor/parse-shell-line.ts";
import { createStyle } from "../text/style.ts";
import { createOwnCommands, type OwnCommands } from "./own-commands.ts";

function setUp(exec: Executor = createProcessExecutor({ cwd: process.cwd() })): {
  readonly commands: OwnCommands;
  readonly shown: string[];
} {
  const shown: string[] = [];
  const screen = { block: (lines: readonly string[]) => void shown.push(...lines) };
  return { commands: createOwnCommands({ screen, style: createStyle(false), exec: () => exec }), shown };
}

describe("createOwnCommands", () => {
  it("shows the output of both streams made safe, and reports it to the agent once", async () => {
    const { commands, shown } = setUp();
    await commands.run("printf 'out\\033[2J\\n'; echo err >&2; exit 3");
    expect(shown.toSorted()).toEqual(["  err", "  exit code 3; the agent reads it with your next message", "  out"]);
    const [text = "", ...more] = commands.takeResults();
    expect(text.split("\n").toSorted()).toEqual(
      ["I ran this command in the project myself: printf 'out\\033[2J\\n'; echo err >&2; exit 3", "[exit code 3]", "err", "out"].toSorted(),
    );
    expect([more, commands.takeResults()]).toEqual([[], []]);
  });

  it("runs commands one after the other", async () => {
    const { commands, shown } = setUp();
    await Promise.all([commands.run("echo one"), commands.run("true")]);
    expect(shown).toEqual(["  one", "  done; the agent reads it with your next message", "  (no output)"]);
  });

  it("stops the command that runs, and keeps what it printed", async () => {
    const started = Promise.withResolvers<void>();
    const { commands, shown } = setUp({
      execute: ({ signal, onOutput }: ExecuteRequest) => {
        onOutput?.("stdout", "half a line");
        started.resolve();
        return new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(new EnvironmentError({ kind: "cancelled", message: "cancelled" })));
        });
      },
    });
    const ran = commands.run("sleep 100");
    await started.promise;
    expect(commands.stop()).toBe(true);
    await ran;
    expect(shown).toEqual(["  half a line", "  stopped"]);
    expect([commands.stop(), commands.takeResults()]).toEqual([
      false,
      ["I ran this command in the project myself: sleep 100\nhalf a line\n[stopped by the person]"],
    ]);
  });

  it("runs no command after it is closed, and ends the one that runs", async () => {
    const aborted = Promise.withResolvers<void>();
    const { commands, shown } = setUp({
      execute: ({ signal }: ExecuteRequest) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => {
            aborted.resolve();
            reject(new EnvironmentError({ kind: "cancelled", message: "cancelled" }));
          });
        }),
    });
    void commands.run("sleep 100");
    void commands.run("sleep 200");
    await Promise.resolve();
    await commands.close();
    await aborted.promise;
    expect(shown).toEqual(["  stopped"]);
  });

  it("shows why a command cannot run, and runs the next one", async () => {
    const { commands, shown } = setUp(createProcessExecutor({ cwd: "/there/is/no/such/folder" }));
    await commands.run("echo one");
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatch(/^! the command did not run: /);
    expect(commands.takeResults()).toEqual([]);
  });
});

describe("parseShellLine", () => {
  it("reads a message that begins with an exclamation mark as a command", () => {
    expect([parseShellLine("! npm test "), parseShellLine("!a\nb"), parseShellLine("!"), parseShellLine("no !")]).toEqual([
      { command: "npm test" },
      { command: "a\nb" },
      undefined,
      undefined,
    ]);
  });
});
