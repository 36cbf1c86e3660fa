import type { EngineScenario } from "./engine-scenario.ts";
import { APPROVALS } from "./scenarios/approvals.ts";
import { CHILDREN } from "./scenarios/children.ts";
import { TOOLS } from "./scenarios/tools.ts";

/** What every engine must do alike. */
export const ENGINE_SCENARIOS: readonly EngineScenario[] = [...TOOLS, ...APPROVALS, ...CHILDREN];
