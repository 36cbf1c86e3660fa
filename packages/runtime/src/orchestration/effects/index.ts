export { memoryLinkKey } from "../../state/kit/state-link.ts";
export {
  createEffectExecutor,
  noOpExecutor,
  type DirectiveHandlers,
  type EffectExecutorOptions,
  type EffectHandlers,
  type Handler,
} from "./create-effect-executor.ts";
export { createLocalEffectExecutor, type LocalEffectExecutorOptions } from "./create-local-effect-executor.ts";
export { executeEffects, type EffectResult } from "./execute-effects.ts";
