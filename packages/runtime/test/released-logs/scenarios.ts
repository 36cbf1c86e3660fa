import type { Scenario } from "./scenario.ts";
import { CONVERSATIONS } from "./scenarios/conversations.ts";
import { OPEN_TURNS } from "./scenarios/open-turns.ts";
import { SHAPED_RUNS } from "./scenarios/shaped-runs.ts";
import { WORKING_TOGETHER } from "./scenarios/working-together.ts";

export const SCENARIOS: readonly Scenario[] = [...CONVERSATIONS, ...OPEN_TURNS, ...SHAPED_RUNS, ...WORKING_TOGETHER];
