import { describeEngine } from "keelson/testing/contracts";
import { ENGINE_SCENARIOS } from "keelson/testing/engines";
import { sampleSize } from "../../../../test/tier.ts";
import { sample } from "../crash/sample.ts";
import { newProcessEngine } from "./new-process-engine.ts";

const count = sampleSize("scenarios of which each turn is worked in a new process", { test: 5, ci: 6, soak: ENGINE_SCENARIOS.length });
const scenarios = sample(ENGINE_SCENARIOS, count);

describeEngine("advance in a new process for each turn, with children inside of their parents' turns,", newProcessEngine(false), {
  scenarios,
  timeoutMs: 60_000,
});
describeEngine("advance in a new process for each turn, with children apart from their parents,", newProcessEngine(true), {
  scenarios,
  timeoutMs: 60_000,
});
