// Works a day with an installed `keelson`, whose path is the argument: it reads files of many kinds, edits, undoes, stops, remembers a folder, and uses the files
// that other agents left in a project.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { openProgram } from "./program.ts";

const [, , keelson = ""] = process.argv;
const program = await openProgram(keelson);
const { project, requests } = program;

const call = (name: string, input: object): object => ({ name, input });
const calls = (...toolCalls: readonly object[]): object => ({ toolCalls });
const UNASKED = ["--permission-mode", "bypass-all"];
const at = (path: string): string => join(project, path);
const text = (path: string): Promise<string> => readFile(at(path), "utf8");
const told = (): string => requests.at(-1) ?? "";
function includes(part: string): void {
  ok(told().includes(part), `${part} in ${told()}`);
}

const page = "BT /F1 12 Tf 10 700 Td (Printed words) Tj ET";
const pdf = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[4 0 R]/Count 1>>endobj
3 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
4 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 5 0 R/Resources<</Font<</F1 3 0 R>>>>>>endobj
5 0 obj<</Length ${page.length}>>stream\n${page}\nendstream endobj
trailer<</Root 1 0 R/Size 6>>
%%EOF`;
const notebook = {
  cells: [{ cell_type: "code", source: ["print('cell')"], outputs: [], metadata: {} }],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
};
const code = `${Array.from({ length: 40 }, (_, index) => `export const value${index} = ${index};`).join("\n")}\n`;
const before: { readonly [path: string]: string | Buffer } = {
  "report.pdf": Buffer.from(pdf, "latin1"),
  "notes.ipynb": JSON.stringify(notebook),
  "wide.txt": Buffer.from("\ufeffwide words\n", "utf16le"),
  "src/values.ts": code,
  "src/crlf.txt": "one\r\ntwo\r\n",
  "old/kept.txt": "kept\n",
};
for (const [path, content] of Object.entries(before)) await program.put(path, content);

// Reading and searching.
program.script(
  calls(
    call("read_file", { path: "report.pdf" }),
    call("read_file", { path: "notes.ipynb" }),
    call("read_file", { path: "wide.txt" }),
    call("read_file", { path: "src/values.ts", ranges: ["3-4", "38-"] }),
    call("grep", { pattern: "wide w.rds" }),
    call("glob", { pattern: "**/*.ts" }),
  ),
  { text: "Read." },
);
equal((await program.run("-p", ...UNASKED, "read")).stdout, "Read.\n");
for (const found of ["Printed words", "print('cell')", "wide words", "value37", "wide.txt:1:wide words", "src/values.ts"]) includes(found);

// Editing, each way, and a folder that lasts. A patch also comes as a command.
const patch = "*** Begin Patch\n*** Update File: crlf.txt\n@@\n-two\n+zwei\n*** Add File: added.txt\n+added\n*** End Patch";
program.script(
  calls(
    call("edit_file", {
      path: "src/values.ts",
      edits: [
        { old_string: "value0 = 0", new_string: "value0 = 100" },
        { old_string: "value39 = 39", new_string: "value39 = 139" },
      ],
    }),
  ),
  calls(call("search_replace", { search: "value(1\\d) = ", replace: "changed$1 = ", regex: true, path: "src" })),
  calls(call("bash", { command: "cd src && pwd" })),
  calls(call("bash", { command: `apply_patch <<'EOF'\n${patch}\nEOF` })),
  calls(call("bash", { command: "rm -rf ../old && echo made > ../made.txt" })),
  { text: "Changed." },
);
const terminal = program.open(...UNASKED, "--no-sandbox");
await terminal.until(/› /);
terminal.type("change\r");
await terminal.until(/Changed\.[\s\S]*complete/);
match(await text("src/values.ts"), /value0 = 100[\s\S]*changed10 = 10[\s\S]*value39 = 139/);
deepEqual([await text("src/crlf.txt"), await text("src/added.txt"), await text("made.txt")], ["one\r\nzwei\r\n", "added\n", "made\n"]);
ok(!(await readdir(project)).includes("old"));

// Undo brings back each byte.
terminal.type("/undo\r");
await terminal.until(/undone/);
terminal.type("/help\r");
await terminal.until(/\/undo/);
for (const [path, content] of Object.entries(before))
  ok(Buffer.from(content as string).equals(await readFile(at(path))), `${path} is as before`);
deepEqual((await readdir(project)).toSorted(), ["notes.ipynb", "old", "report.pdf", "src", "wide.txt"]);

// Esc stops a command and what it started.
program.script(calls(call("bash", { command: "sleep 600 & echo begun; sleep 600" })), { text: "Going on." });
terminal.type("wait\r");
await terminal.until(/begun/);
terminal.type("\u001b");
await terminal.until(/stopped/);
terminal.type("go on\r");
await terminal.until(/Going on\.[\s\S]*complete/);
includes("interrupted by the person");
terminal.type("/quit\r");
equal(await terminal.exited, 0);

// The files of other agents, once they are trusted.
await program.put("CLAUDE.md", "Follow @docs/rules.md here.\n");
await program.put("docs/rules.md", "The rule of the imported file.\n");
await program.put(".claude/settings.json", JSON.stringify({ env: { FROM_SETTINGS: "of the settings" } }));
await program.put(".claude/commands/greet.md", "---\ndescription: Greets.\n---\nGreet $ARGUMENTS kindly.\n");
await program.put(".claude/skills/tea/SKILL.md", "---\nname: tea\ndescription: How to make tea.\n---\nBoil water first.\n");
const untrusted = await program.run("-p", ...UNASKED, "look");
ok(!told().includes("The rule of the imported file"), told());
match(untrusted.stderr, /CLAUDE\.md|left out|not used/);
equal((await program.run("trust", "accept")).code, 0);
program.script(calls(call("bash", { command: "echo $FROM_SETTINGS" })), calls(call("load_skill", { name: "tea" })), { text: "Used." });
const used = await program.run("-p", ...UNASKED, "/greet the reader");
equal(used.stdout, "Used.\n", used.stderr);
for (const found of ["The rule of the imported file", "Greet the reader kindly", "of the settings", "Boil water first"]) includes(found);

// For programs.
program.script({ text: '{"answer": 4}' });
const schema = { type: "object", properties: { answer: { type: "integer" } }, required: ["answer"] };
const structured = await program.run("-p", ...UNASKED, "--output-format", "json", "--json-schema", JSON.stringify(schema), "count");
equal(structured.code, 0, structured.stderr);
match(structured.stdout, /"answer":4/);
program.script({ text: "Streamed." });
const streamed = await program.run("-p", ...UNASKED, "--output-format", "claude-stream-json", "say it");
const lines = streamed.stdout
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as { readonly type: string; readonly result?: string });
deepEqual([lines[0]?.type, lines.at(-1)?.type, lines.at(-1)?.result], ["system", "result", "Streamed."]);

// A worktree of its own.
const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: project, encoding: "utf8" });
git("init", "-q");
git("add", "-A");
git("commit", "-q", "-m", "Begin");
program.script(calls(call("write_file", { path: "there.txt", content: "there\n" })), { text: "Written." });
const apart = await program.run("-p", ...UNASKED, "--worktree", "apart", "--", "write");
equal(apart.stdout, "Written.\n", apart.stderr);
match(git("branch", "--list", "keelson/apart"), /keelson\/apart/);
ok(!(await readdir(project)).includes("there.txt"));

await program[Symbol.asyncDispose]();
// A timer of the terminal may still wait.
process.exit();
