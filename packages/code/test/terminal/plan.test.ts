import { describe, expect, it, vi } from "vitest";
import { KEYS, shareTerminal } from "./shared-terminal.ts";
import { USAGE } from "./usage.ts";
import { WIDTHS } from "./widths.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const PLAN = `# Mend the sum

1. Read \`sum.js\`, which holds the sum of both numbers
2. Change it
   - without another dependency
3. 测试`;
const TASKS = [
  { text: "Read sum.js", state: "done" },
  { text: "Change it, which needs more words than a narrow terminal has columns for", state: "doing" },
  { text: "Test it 测试", state: "open" },
];
/** At the row of the cursor: after this sign an answer to a plan is read. */
const PLAN_HEARD = /\n.*(?:\[n\]o|\/n\]) › $/;

describe.each(WIDTHS)("a plan at %d columns", (columns) => {
  const shared = shareTerminal({
    ...{ columns, rows: 40, timeByHand: true },
    script: [
      { toolCalls: [{ name: "present_plan", input: { plan: PLAN } }], usage: USAGE },
      { toolCalls: [{ name: "present_plan", input: { plan: "1. Change it\n2. Test it" } }], usage: USAGE },
      { toolCalls: [{ name: "update_tasks", input: { tasks: TASKS } }], usage: USAGE },
      { text: "Mended.", usage: USAGE },
    ],
  });
  const { see, seeAll } = shared;

  it("is asked for in the mode that Shift-Tab brings, which the status line shows", async () => {
    await seeAll(KEYS.shiftTab, /\n› \n.*accept-edits/);
    expect(await seeAll(KEYS.shiftTab, /\n› \n.*plan-only/, "›")).toMatchSnapshot();
  });

  it("is shown whole with its answers", async () => {
    await see(`mend the sum${KEYS.enter}`, /测试\n[\s\S]*\n\[y/);
    shared.terminal.pause();
    expect(await see("", PLAN_HEARD, "? The agent")).toMatchSnapshot();
  });

  it("that is edited is shown again, and its answer is still open", async () => {
    await see(`e${KEYS.enter}`, /plan › [\s\S]*测试$/);
    expect(await see(` 完成${KEYS.enter}`, /测试 完成\n[\s\S]*\nyour plan: .*› $/, "? The agent")).toMatchSnapshot();
  });

  it("that is declined says what to plan otherwise, and a second plan is asked about", async () => {
    await see(`n${KEYS.enter}`, /otherwise › $/);
    await see(`only the change${KEYS.enter}`, /2\. Test it\n[\s\S]*\n\[y/);
    shared.terminal.pause();
    expect(await see("", PLAN_HEARD, "? The agent")).toMatchSnapshot();
    expect(JSON.stringify(shared.workspace.server.requests.at(-1)?.body)).toContain("only the change");
  });

  it("that is accepted ends plan mode, and the tasks of the agent are shown with their states", async () => {
    expect(await see(`a${KEYS.enter}`, /Mended\.[\s\S]*complete[\s\S]*\n› $/, "● update_tasks")).toMatchSnapshot("result");
    // The list of tasks is in sight until the person hides it.
    await seeAll(KEYS.ctrlT, /\d m?s\n› \n.*accept-edits/);
    expect(await seeAll(KEYS.ctrlT, /Test it 测试\n› \n.*accept-edits/, "✔ complete")).toMatchSnapshot("list");
  });
});
