import { collectBackgroundStep, awaitBackgroundStep } from "../features/children/await-background.ts";
import { chargeTurnStep } from "../features/budget/charge-budget.ts";
import { markTurnStep } from "../features/budget/mark-budgets.ts";
import { directivesStep } from "../features/effects/carry-out.ts";
import { closeEnvironmentStep, openEnvironmentStep } from "../features/environment/run-environment.ts";
import { effectsStep } from "../features/effects/effects-step.ts";
import { hookMatchersStep } from "../features/hooks/hook-matchers-step.ts";
import { notifiedStep } from "../features/hooks/notification-hooks.ts";
import { sessionEndStep, sessionResumedStep, sessionStartStep } from "../features/hooks/session-hooks.ts";
import { preToolUseGate } from "../features/hooks/tool-hooks.ts";
import { afterTurnStep, beforeTurnStep } from "../features/hooks/turn-callbacks.ts";
import { inputMiddlewareStep } from "../features/middleware/process-input.ts";
import { permissionGate } from "../features/permissions/permission-gate.ts";
import { pluginEventsStep, pluginsBeginStep, pluginsEndStep } from "../features/plugins/call-plugins.ts";
import { strategyGate } from "../features/strategies/enforce-strategy.ts";
import type { Moments } from "../turn/moments.ts";
import { compactStep } from "./compaction/due-compaction.ts";
import { cutInStep } from "./compaction/cut-in.ts";
import { transformGate } from "./transform-gate.ts";
import { closeToolContextStep, openToolContextStep } from "../features/tool-context/run-tool-context.ts";
import { closeToolSourcesStep, openToolSourcesStep } from "../features/tool-sources/run-sources.ts";
import { offerToolsAtEndStep, offerToolsStep } from "../features/tool-sources/offer-tools.ts";
import { limitsStep } from "./limits-step.ts";
import { loopGuardGate } from "./loop-guard.ts";
import { toolCallLimitGate } from "./tool-call-limit-gate.ts";
import { checkEndingStep, exitRulesStep, handoffStep, ifComplete, inboxStep, turnEndStep, turnStartStep } from "./turn-steps.ts";

/**
 * What happens in a run, and in which order. A feature that an agent does not use is not called. A new one is a folder, and a line
 * here at each moment that it needs. What belongs to one model call or to one batch of calls stands there: `attemptInference`,
 * `runBatch`.
 */
export const MOMENTS: Moments = {
  beforeRun: [openEnvironmentStep, openToolContextStep, openToolSourcesStep, sessionStartStep, inputMiddlewareStep, pluginsBeginStep],
  onResume: [openEnvironmentStep, openToolContextStep, openToolSourcesStep, sessionResumedStep],
  // What is read of the inbox came, at the latest, while sources were waited for.
  betweenTurns: [
    offerToolsStep,
    hookMatchersStep,
    inboxStep,
    collectBackgroundStep,
    directivesStep,
    limitsStep,
    chargeTurnStep,
    turnStartStep,
    markTurnStep,
  ],
  beforeTurn: [beforeTurnStep, compactStep],
  // Here the model responds: see `inferAndRunCalls`.
  // Before its first gate the tool of a call is found, and its arguments are parsed and validated: see `passGates`. Behind the last,
  // people are asked about all calls of a response at once.
  gates: [transformGate, strategyGate, permissionGate, loopGuardGate, toolCallLimitGate, preToolUseGate],
  beforeNextTurn: [
    directivesStep,
    afterTurnStep,
    pluginEventsStep,
    exitRulesStep,
    checkEndingStep,
    handoffStep,
    cutInStep,
    offerToolsAtEndStep,
    turnEndStep,
  ],
  beforeEnd: [
    [inboxStep, ifComplete(directivesStep)],
    [ifComplete(afterTurnStep), exitRulesStep, ifComplete(directivesStep)],
    [handoffStep, ifComplete(awaitBackgroundStep)],
  ],
  // What plugins declare at the end is carried out as well.
  afterResult: [effectsStep, pluginsEndStep, effectsStep, sessionEndStep, closeToolSourcesStep, closeToolContextStep, closeEnvironmentStep],
  onSuspension: [notifiedStep, closeToolSourcesStep, closeToolContextStep, closeEnvironmentStep],
};
