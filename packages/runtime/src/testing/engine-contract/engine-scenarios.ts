import type { EngineScenario } from "./engine-scenario.ts";
import { APPROVALS } from "./scenarios/approvals.ts";
import { ASKING_TOOLS } from "./scenarios/asking-tools.ts";
import { BUDGETS } from "./scenarios/budgets.ts";
import { CHILDREN, HANDOFFS } from "./scenarios/children.ts";
import { CONTEXTS } from "./scenarios/contexts.ts";
import { CANCELLATION, FAILURES, STEERING } from "./scenarios/endings.ts";
import { PLUGINS_AND_HOOKS, SHAPED_RUNS } from "./scenarios/shaped-runs.ts";
import { PARALLEL_TOOLS, TOOLS } from "./scenarios/tools.ts";
import { TOOL_SOURCES } from "./scenarios/tool-sources.ts";
import { SIGNALS, TIMERS } from "./scenarios/waits.ts";

/** What every engine must do alike. */
export const ENGINE_SCENARIOS: readonly EngineScenario[] = [
  ...TOOLS,
  ...PARALLEL_TOOLS,
  ...TOOL_SOURCES,
  ...CONTEXTS,
  ...APPROVALS,
  ...ASKING_TOOLS,
  ...TIMERS,
  ...SIGNALS,
  ...CHILDREN,
  ...HANDOFFS,
  ...FAILURES,
  ...STEERING,
  ...CANCELLATION,
  ...BUDGETS,
  ...PLUGINS_AND_HOOKS,
  ...SHAPED_RUNS,
];
