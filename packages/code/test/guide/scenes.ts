import { HEARD, type KeelsonTerminal } from "../keelson-terminal.ts";
import { clockOf, type Scene } from "./scene.ts";

const PROMPT = /\n› \n[^\n]*$/;
const USAGE = { inputTokens: 9_400, outputTokens: 210 };

const CART = `/** The total of a cart, in cents. */
export function total(items) {
  return items.reduce((sum, { price, count }) => sum + price, 0);
}

export const isEmpty = (items) => items.length === 0;
`;
const FILES = {
  "src/cart.js": CART,
  "src/catalog.js": "export const catalog = new Map();\n",
  "test/cart.test.js": 'import { total } from "../src/cart.js";\n',
};

/** Resolves when the last row is the status line with this cost, and the words are above it. */
async function shows(terminal: KeelsonTerminal, words: RegExp, cost: string): Promise<void> {
  await terminal.untilAll(new RegExp(`${words.source}[\\s\\S]*\\n[^\\n]* · \\${cost} · no sandbox · main$`));
}

/** Types a text when the prompt is there. */
async function ask(terminal: KeelsonTerminal, text: string): Promise<void> {
  await terminal.untilAll(PROMPT);
  terminal.type(text);
}

/** The screens of `docs/coding-agent.md`. */
export const SCENES: readonly Scene[] = [
  {
    name: "start",
    files: FILES,
    script: [
      { toolCalls: [{ name: "read_file", input: { path: "src/cart.js" } }], usage: USAGE },
      {
        text: "`total` in `src/cart.js` adds the price of each item and ignores `count`. Two pears for 40 cents count as one.\n",
        usage: USAGE,
      },
    ],
    async play(terminal) {
      await ask(terminal, "why is the total of the cart wrong?\r");
      await shows(terminal, /count as one\.[\s\S]*✔ complete[\s\S]*\n› /, "$0.0418");
    },
  },
  {
    name: "markdown",
    script: [
      {
        text: [
          "# Two ways to round",
          "",
          "Prices are **whole cents**, so only the tax needs rounding:",
          "",
          "1. *Per item*: each line of the receipt is right.",
          "2. *Per cart*: the sum is right.",
          "",
          "| cart | per item | per cart |",
          "| --- | ---: | ---: |",
          "| 3 pears | 1.14 | 1.13 |",
          "| 1 melon | 2.38 | 2.38 |",
          "",
          "```js",
          "export const tax = (cents) => Math.round(cents * 0.19);",
          "```",
          "",
          "> The law of most countries accepts both.",
          "",
        ].join("\n"),
        usage: USAGE,
      },
    ],
    from: "› how",
    async play(terminal) {
      await ask(terminal, "how can I round the tax?\r");
      await shows(terminal, /accepts both\.[\s\S]*✔ complete[\s\S]*\n› /, "$0.0209");
    },
  },
  {
    name: "question",
    files: FILES,
    script: [
      { toolCalls: [{ name: "read_file", input: { path: "src/cart.js" } }], usage: USAGE },
      {
        text: "I multiply each price by its count.",
        toolCalls: [
          {
            name: "edit_file",
            input: {
              path: "src/cart.js",
              old_string: "  return items.reduce((sum, { price, count }) => sum + price, 0);",
              new_string: "  return items.reduce((sum, { price, count }) => sum + price * count, 0);",
            },
          },
        ],
        usage: USAGE,
      },
    ],
    from: "› mend",
    async play(terminal) {
      await ask(terminal, "mend the total\r");
      await terminal.until(/\? `edit_file`/);
      terminal.pause();
      await terminal.until(HEARD);
      await shows(terminal, /a\[b\]ort › /, "$0.0418");
    },
  },
  {
    name: "slash-menu",
    script: [],
    from: "› /co",
    async play(terminal) {
      await ask(terminal, "/co");
      await shows(terminal, /› \/co\n[\s\S]*compact/, "$0");
    },
  },
  {
    name: "file-menu",
    files: FILES,
    script: [],
    from: "› add",
    async play(terminal) {
      await ask(terminal, "add a test for @ca");
      await shows(terminal, /@ca\n[\s\S]*cart\.test\.js/, "$0");
    },
  },
  {
    name: "plan",
    args: ["--permission-mode", "plan-only"],
    script: [
      {
        toolCalls: [
          {
            name: "present_plan",
            input: {
              plan: "1. Test the total of a cart with two pears\n2. Multiply each price by its count in src/cart.js\n3. Run npm test",
            },
          },
        ],
        usage: USAGE,
      },
    ],
    from: "› plan",
    async play(terminal) {
      await ask(terminal, "plan how to mend the total\r");
      await terminal.until(/The agent presents a plan/);
      terminal.pause();
      await terminal.until(/\[n\]o › $/);
      await shows(terminal, /\[n\]o › /, "$0.0209");
    },
  },
  {
    name: "tasks",
    script: [
      {
        toolCalls: [
          {
            name: "update_tasks",
            input: {
              tasks: [
                { text: "Test the total of a cart with two pears", state: "done" },
                { text: "Multiply each price by its count", state: "doing" },
                { text: "Run all tests", state: "open" },
              ],
            },
          },
        ],
        usage: USAGE,
      },
      { text: ["The new test fails, as it should.", " I change `src/cart.js`.", "", ""], misbehave: { stall: "in-body" } },
    ],
    from: "› carry",
    async play(terminal) {
      await ask(terminal, "carry out the plan\r");
      await shows(terminal, /as it should\.[\s\S]*\n› /, "$0.0209");
    },
  },
  {
    name: "sessions",
    script: [
      { text: "Done.", usage: USAGE },
      { text: "Done.", usage: { inputTokens: 61_000, outputTokens: 1_900 } },
      { text: "Done.", usage: { inputTokens: 23_000, outputTokens: 800 } },
    ],
    args: ["-r"],
    async prepare(workspace) {
      for (const [task, hours] of [
        ["write the receipt as PDF", 75.5],
        ["why does the build take a minute?", 26.5],
        ["mend the total of the cart", 2.5],
      ] as const) {
        const { code, stderr } = await workspace.start(["-p", task], { env: clockOf(hours) }).finished;
        if (code !== 0) throw new Error(`the session "${task}" was not made: ${stderr}`);
      }
    },
    async play(terminal) {
      await terminal.untilAll(/session › \n[\s\S]*receipt as PDF[\s\S]*Enter picks/);
    },
  },
  {
    name: "folded",
    args: ["--allow", "bash(node test/all.js)"],
    files: { "test/all.js": countingTest(40) },
    script: [
      { toolCalls: [{ name: "bash", input: { command: "node test/all.js" } }], usage: USAGE },
      { text: "One of 40 tests fails: the total of a cart with two pears.", usage: USAGE },
    ],
    from: "› run",
    async play(terminal) {
      await ask(terminal, "run the tests\r");
      await shows(terminal, /two pears\.[\s\S]*✔ complete[\s\S]*\n› /, "$0.0418");
    },
  },
  {
    name: "help",
    script: [],
    rows: 80,
    from: "› /help",
    // The page has a table of them.
    to: "Keys",
    async play(terminal) {
      await ask(terminal, "/help\r");
      await shows(terminal, /\nCtrl-_ [^\n]*\n› /, "$0");
    },
  },
];

/** A program that prints a line for each of so many tests, of which the last one fails. */
function countingTest(count: number): string {
  return `for (let n = 1; n < ${count}; n += 1) console.log(\`ok \${n} - a cart with \${n} items\`);
console.log("not ok ${count} - two pears\\n  expected: 80\\n  actual: 40");
process.exitCode = 1;
`;
}
