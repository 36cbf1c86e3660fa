// An operator in a process of its own: what crashes there is an error here.
import assert from "node:assert/strict";

// #region environment
import { createProcessEnvironment } from "keelson/environment";
import { createLocalOrchestrator, operatorInput, type Operator } from "keelson/orchestration";

const environment = createProcessEnvironment({ module: new URL("./counter.ts", import.meta.url) });
const counter: Operator = {
  execute: (input, context) =>
    environment.run(input, { isolation: [{ type: "process" }], credentials: [], resources: { memory: "256Mi" } }, context),
};
const orchestrator = createLocalOrchestrator({ operators: { counter } });
const { message } = await orchestrator.dispatch("counter", operatorInput("one two three", "user"));
// #endregion

assert.deepEqual(message, [{ type: "text", text: "3 words" }]);
await assert.rejects(orchestrator.dispatch("counter", operatorInput("it will crash", "user")), /ended by SIGABRT/);
console.log("counted in a process of its own; its crash was an error here");
