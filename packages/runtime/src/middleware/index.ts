export {
  createStack,
  type Middleware,
  type MiddlewareReport,
  type Next,
  type Observer,
  type Stack,
  type StackBuilder,
  type StackErrors,
  type StackOptions,
} from "./create-stack.ts";
export { denyOperators } from "./deny-operators.ts";
export {
  createDispatchStack,
  type DispatchMiddleware,
  type DispatchNext,
  type DispatchObserver,
  type DispatchRequest,
  type DispatchStack,
} from "./dispatch-middleware.ts";
export {
  createExecStack,
  withExecMiddleware,
  type ExecMiddleware,
  type ExecNext,
  type ExecObserver,
  type ExecRequest,
  type ExecStack,
} from "./exec-middleware.ts";
export { logDispatches, type DispatchLogEntry } from "./log-dispatches.ts";
export { createStoreStack, withStoreMiddleware, type StoreMiddleware, type StoreObserver, type StoreStack } from "./store-middleware.ts";
export { withDispatchMiddleware, type WithDispatchMiddlewareOptions } from "./with-dispatch-middleware.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type { Executor, Operator, Orchestrator, StateStore } from "@keelson/protocol";
