import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type Workspace, openWorkspace } from "./keelson-process.ts";
import { openTerminal } from "./keelson-terminal.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 240_000 });

const bash = (command: string): object => ({ toolCalls: [{ name: "bash", input: { command } }] });
const write = (path: string, content: string): object => ({
  toolCalls: [{ name: "write_file", input: { path, content, overwrite: true } }],
});

const json = async (workspace: Workspace, ...args: readonly string[]): Promise<{ readonly session: string } & Record<string, unknown>> => {
  const { code, stdout, stderr } = await workspace.keelson(...args);
  if (code !== 0) throw new Error(`keelson ${args.join(" ")} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as { readonly session: string } & Record<string, unknown>;
};

describe("undo in a conversation", () => {
  it("takes back what the last message did, survives an exit right after it, comes back with /redo, and leaves changes of the person [TC-04, TC-21]", async () => {
    await using workspace = await openWorkspace(
      [
        write("a.txt", "agent\n"),
        bash("rm -rf src; echo made > made.txt"),
        { text: "Done one." },
        bash("echo second > b.txt"),
        { text: "Done two." },
        { text: "Noted." },
      ] as never,
      { "a.txt": "mine\n", "b.txt": "b\n", "src/deep/c.ts": "c\n" },
    );
    const at = (path: string): string => join(workspace.project, path);
    const args = ["--permission-mode", "bypass-all", "--no-sandbox"];
    const first = openTerminal(workspace, args);
    await first.until(/› $/m);
    first.type("one\r");
    await first.until(/Done one\.[\s\S]*› $/m);
    first.type("two\r");
    await first.until(/Done two\.[\s\S]*› $/m);
    first.type("/diff\r");
    await first.until(/changed a\.txt[\s\S]*- mine[\s\S]*\+ agent[\s\S]*made made\.txt[\s\S]*deleted src\/deep\/c\.ts/);
    first.type("/undo\r");
    await first.until(/undone: echo second > b\.txt\s+restored b\.txt/);
    writeFileSync(at("made.txt"), "the person's\n");
    first.type("/undo\r");
    await first.until(/brought back src\/deep\/c\.ts[\s\S]*made\.txt was left as it is: it was changed since by someone else/);
    first.type("/quit\r");
    expect(await first.exited).toBe(0);
    expect([readFileSync(at("a.txt"), "utf8"), readFileSync(at("b.txt"), "utf8")]).toEqual(["mine\n", "b\n"]);
    expect([readFileSync(at("src/deep/c.ts"), "utf8"), readFileSync(at("made.txt"), "utf8")]).toEqual(["c\n", "the person's\n"]);

    await using second = openTerminal(workspace, ["-c", ...args]);
    await second.until(/› $/m);
    second.type("/redo\r");
    await second.until(/redone: [\s\S]*removed src\/deep\/c\.ts/);
    expect([readFileSync(at("a.txt"), "utf8"), existsSync(at("src"))]).toEqual(["agent\n", false]);
    second.type("/undo nonsense\r");
    await second.until(/"nonsense" is not understood/);
    second.type("/undo 2\r");
    await second.until(/Nothing to undo|undone:/);
    second.type("go on\r");
    await second.until(/Noted\./);
    expect(JSON.stringify(workspace.server.requests.at(-1)?.body)).toContain("Read files again before you change them.");
    second.type("/quit\r");
    expect(await second.exited).toBe(0);
  });
});

describe("undo after a crash", () => {
  it("takes back what a killed process and its command did, at the next start [TC-04]", async () => {
    await using workspace = await openWorkspace([bash("rm -rf src; echo half > a.txt; sleep 300"), { text: "Never." }] as never, {
      "a.txt": "mine\n",
      "src/c.ts": "c\n",
    });
    const running = workspace.start(["--permission-mode", "bypass-all", "--no-sandbox", "-p", "break it"]);
    while (readFileSync(join(workspace.project, "a.txt"), "utf8") !== "half\n") await setTimeout(20);
    running.child.kill("SIGKILL");
    await running.finished;
    const [{ id } = { id: "" }] = JSON.parse((await workspace.keelson("sessions", "list", "--json")).stdout) as readonly { id: string }[];
    // A person needs longer than a killed process took to show its last sign of life.
    await setTimeout(600);
    await writeFile(join(workspace.project, "later.txt"), "the person's");
    const { code, stdout } = await workspace.keelson("sessions", "rewind", id, "0", "--files-only");
    expect([code, stdout]).toEqual([1, expect.stringMatching(/undone: rm -rf src[\s\S]*restored a\.txt[\s\S]*later\.txt was left/)]);
    expect(await readFile(join(workspace.project, "src/c.ts"), "utf8")).toBe("c\n");
    expect(await readFile(join(workspace.project, "a.txt"), "utf8")).toBe("mine\n");
    expect(await readFile(join(workspace.project, "later.txt"), "utf8")).toBe("the person's");
  });
});

describe("sessions rewind", () => {
  it("goes back with the conversation, with the files, or with both, and deletes the history with the session", async () => {
    await using workspace = await openWorkspace(
      [
        bash("echo 1 > a.txt"),
        { text: "one" },
        bash("echo 2 > a.txt"),
        { text: "two" },
        bash("echo 3 > a.txt"),
        { text: "three" },
      ] as never,
      { "a.txt": "0\n" },
    );
    const content = (): Promise<string> => readFile(join(workspace.project, "a.txt"), "utf8");
    const run = (...more: readonly string[]): ReturnType<typeof json> =>
      json(workspace, "--output-format", "json", "--permission-mode", "bypass-all", "--no-sandbox", ...more);
    const { session } = await run("first");
    await run("-c", "second");
    await run("-c", "third");
    expect(await content()).toBe("3\n");
    const files = await json(workspace, "sessions", "rewind", session, "4", "--files-only", "--json");
    expect([files["files"], await content()]).toEqual([[join(workspace.project, "a.txt")], "2\n"]);
    expect(JSON.stringify((await json(workspace, "sessions", "show", session, "--json"))["messages"])).toContain("three");
    const both = await workspace.keelson("sessions", "rewind", session, "2", "--files");
    expect([both.code, both.stdout, await content()]).toEqual([0, expect.stringMatching(/turn 2[\s\S]*restored a\.txt/), "1\n"]);
    expect(JSON.stringify((await json(workspace, "sessions", "show", session, "--json"))["messages"])).not.toContain("second");
    await writeFile(join(workspace.project, "a.txt"), "own\n");
    const kept = await workspace.keelson("sessions", "rewind", session, "0", "--files");
    expect([kept.code, kept.stdout, await content()]).toEqual([1, expect.stringMatching(/a\.txt was left as it is/), "own\n"]);
    expect((await workspace.keelson("sessions", "rewind", session, "0", "--unclear")).stderr).toMatch(/--unclear is about files/);
    const history = join(workspace.home, "file-history");
    const [project = ""] = await readdir(history);
    expect(await readdir(join(history, project, "sessions"))).toHaveLength(1);
    await json(workspace, "sessions", "delete", session, "--json");
    expect(await readdir(join(history, project, "sessions"))).toEqual([]);
  });
});
