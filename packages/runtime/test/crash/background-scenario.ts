import type { Tool } from "@keelson/protocol";
import { createAgent, defineTool } from "../../src/index.ts";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { openRunner, scriptByTurn, type ScenarioServices } from "./scenario.ts";

/** A run that starts an agent, which writes, and two tasks beside its turns, and ends once it heard of all three. */
export function openBackground(services: ScenarioServices): SingleRunner {
  const { points, effects } = services;
  const helper = createAgent({
    name: "helper",
    model: scriptByTurn(points, "scripted/helper", (turn) =>
      turn === 0 ? { text: "Filing.", toolCalls: [{ name: "file_report", input: {} }] } : { text: "The report is filed." },
    ),
    tools: [
      defineTool({
        name: "file_report",
        description: "Files.",
        effect: "write",
        input: { type: "object" },
        async execute(_input, { idempotencyKey, attempt }) {
          await points.pass("file_report/before");
          effects.write({ tool: "file_report", key: idempotencyKey, attempt });
          await points.pass("file_report/after");
          return "filed";
        },
        reconcile: (_input, { idempotencyKey }) =>
          effects.read().some(({ key }) => key === idempotencyKey) ? { output: "filed" } : "not-done",
      }) as Tool,
    ],
  });
  const declare = defineTool({
    name: "declare",
    description: "Declares.",
    effect: "idempotent",
    input: { type: "object" },
    execute(_input, call) {
      call.declare?.({ type: "directive", directive: { type: "spawn-task", description: "index", input: { n: 1 } } });
      call.declare?.({ type: "directive", directive: { type: "spawn-task", description: "fail", input: null } });
      return "declared";
    },
  }) as Tool;
  return openRunner(
    services,
    () =>
      createAgent({
        name: "main",
        model: scriptByTurn(points, "scripted/main", (turn, { messages }) =>
          turn === 0
            ? {
                toolCalls: [
                  { name: "helper", input: { task: "Write the report." } },
                  { name: "declare", input: {} },
                ],
              }
            : { text: `Heard of ${messages.filter(({ role }) => role === "user").length - 1}.` },
        ),
        tools: [declare, helper.asTool({ background: true })],
        // As many as it starts: one that is started again after a crash is not one more.
        limits: { maxBackground: 3 },
      }),
    undefined,
    {
      tasks: {
        async run(description, _input, { idempotencyKey }) {
          await points.pass(`${description}/before`);
          effects.write({ tool: description, key: idempotencyKey, attempt: 1 });
          await points.pass(`${description}/after`);
          if (description === "fail") throw new Error("no such thing");
          return "indexed";
        },
      },
    },
  );
}
