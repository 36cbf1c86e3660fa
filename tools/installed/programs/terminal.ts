// Types in an installed `keelson`, whose path is the argument, as a person does: in a fast terminal with colours, over a slow connection, without
// colours, and in a terminal that moves no cursor.
import { doesNotMatch, equal, match, ok } from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openProgram } from "./program.ts";
import { openScreen, type ScreenOptions } from "./screen.ts";

const [, , keelson = ""] = process.argv;

const ENTER = "\r";
const ALT_ENTER = "\u001b\r";
const SHIFT_TAB = "\u001b[Z";
const CTRL_R = "\u0012";
const CTRL_U = "\u0015";
const ESC = "\u001b";
/** Ends the first row that the person types in while nothing is asked. */
const READY = /\n› ?\n[^\n]+$/;
// oxlint-disable-next-line no-control-regex -- sequences begin with one
const COLOUR = /\u001b\[(?:3\d|9\d|38;)[\d;]*m/;

const ANSWER = `# Totals

The **sum** is in \`total.ts\` 测试 👨‍👩‍👧‍👦:

| name | value |
|---|---|
| sum | 1 |

\`\`\`ts
export const sum = 1;
\`\`\`
`;
const edit = (path: string, before: string, after: string): object => ({
  toolCalls: [{ name: "edit_file", input: { path, old_string: before, new_string: after } }],
});

/** A conversation with each kind of thing that a person sees and does. */
async function converse(options: ScreenOptions): Promise<string> {
  const program = await openProgram(keelson);
  const { project, requests } = program;
  await program.put("src/total.ts", "export const total = (a: number, b: number) => a - b;\n");
  program.script(
    { text: ANSWER },
    edit("src/total.ts", "a - b", "a + b"),
    { text: "Changed." },
    { toolCalls: [{ name: "present_plan", input: { plan: "# Double it\n\n1. Change `total.ts`" } }] },
    edit("src/total.ts", "a + b", "2 * (a + b)"),
    { text: "Doubled." },
  );
  // Outside of a sandbox an edit is asked about.
  const screen = openScreen(program, keelson, { ...options, argv: ["--no-sandbox"] });
  await screen.until(/\/help says what you can do[\s\S]*› \n.*default/);

  // Input: a menu of commands, files behind @, several lines.
  screen.type("/comp");
  await screen.until(/→ \/compact \[what to keep\]/);
  // An Esc that other keys follow immediately is an Alt.
  screen.type(ESC);
  await screen.until(/› \/comp ?\n[^→]*$/);
  screen.type(`${CTRL_U}look at @tot`);
  await screen.until(/→ src\/total\.ts/);
  screen.type("\t");
  await screen.until(/look at @src\/total\.ts ?$/m);
  screen.type(`${ALT_ENTER}and explain it`);
  await screen.until(/\n {2}and explain it/);
  screen.type(ENTER);
  // Emphasis keeps its Markdown marks if there are no colours.
  const answered = await screen.until(/export const sum = 1;[\s\S]*complete[\s\S]*\n› ?\n[^\n]+$/);
  match(
    answered,
    options.env?.["NO_COLOR"] === "" ? /\nTotals\n\nThe sum is in total\.ts/ : /\n# Totals\n\nThe \*\*sum\*\* is in `total\.ts`/,
  );
  match(answered, /│ sum {2}│ 1 {5}│/);
  ok(requests.at(-1)?.includes(String.raw`look at @src/total.ts \nand explain it`), "the message has both lines");

  // A question with its change, and the change in its place.
  screen.type(`mend it${ENTER}`);
  await screen.until(/- .*a - b[\s\S]*\+ .*a \+ b[\s\S]*a\[b\]ort › ?\n/);
  screen.type(`y${ENTER}`);
  await screen.until(/1 - .*a - b[\s\S]*1 \+ .*a \+ b[\s\S]*Changed\.[\s\S]*complete[\s\S]*\n› ?\n[^\n]+$/);

  // A plan, which is accepted.
  screen.type(SHIFT_TAB);
  await screen.until(/accept-edits/);
  screen.type(SHIFT_TAB);
  await screen.until(/plan-only/);
  screen.type(`double it${ENTER}`);
  await screen.until(/Double it[\s\S]*\[a\]llow edits[\s\S]*› ?\n/);
  screen.type(`a${ENTER}`);
  await screen.until(/Doubled\.[\s\S]*complete[\s\S]*\n› ?\n[^\n]*accept-edits/);
  match(await readFile(join(project, "src/total.ts"), "utf8"), /2 \* \(a \+ b\)/);

  // A command of the person, lists to choose from, earlier messages.
  screen.type(`!echo "of the shell" | tr a-z A-Z${ENTER}`);
  await screen.until(/OF THE SHELL/);
  screen.type(`/model${ENTER}`);
  await screen.until(/● anthropic\/.*tokens/);
  screen.type(ESC);
  await screen.until(READY);
  screen.type(CTRL_R);
  screen.type("explain");
  await screen.until(/look at @src\/total\.ts/);
  screen.type(ESC);
  await screen.until(READY);
  screen.type(`/undo 2${ENTER}`);
  await screen.until(/undone/);
  match(await readFile(join(project, "src/total.ts"), "utf8"), /a - b/);
  screen.type(`/quit${ENTER}`);
  equal(await screen.exited, 0);

  // The session is offered with its first words, and shows how it went.
  const again = openScreen(program, keelson, { ...options, argv: ["-r"] });
  await again.until(/look at @src\/total\.ts/);
  again.type(ENTER);
  await again.until(/Doubled\.[\s\S]*\n› ?\n[^\n]+$/);
  again.type(`/quit${ENTER}`);
  equal(await again.exited, 0);
  await program[Symbol.asyncDispose]();
  return screen.written();
}

match(await converse({ env: { NO_COLOR: "" } }), COLOUR);
doesNotMatch(await converse({ env: { NO_COLOR: "1" } }), COLOUR);
await converse({ env: { NO_COLOR: "" }, connection: { bytesPerSecond: 20_000, latencyMs: 50 } });

const plain = await openProgram(keelson);
plain.script({ text: ANSWER });
const dumb = openScreen(plain, keelson, { env: { TERM: "dumb" } });
await dumb.until(/\/help says what you can do/);
dumb.type(`hello${ENTER}`);
await dumb.until(/complete/);
dumb.type("\u0004");
equal(await dumb.exited, 0);
ok(!dumb.written().includes("\u001b"), dumb.written());

await plain[Symbol.asyncDispose]();
// A timer of the terminal may still wait.
process.exit();
