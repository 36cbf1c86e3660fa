import { OrchestratorError, type DispatchOptions, type OperatorInput, type OperatorOutput } from "@keelson/protocol";
import {
  STACK_OPTIONS,
  boundaryErrors,
  composeStack,
  stackBuilder,
  type Layers,
  type Middleware,
  type Observer,
  type Stack,
  type StackBuilder,
  type StackErrors,
  type StackOptions,
} from "./create-stack.ts";
import { checkOptionNames } from "../json/option-names.ts";

export interface DispatchRequest {
  readonly operator: string;
  readonly input: OperatorInput;
  readonly options: DispatchOptions;
}

/** What is left out stays as it is. */
export type DispatchNext = (operator?: string, input?: OperatorInput) => Promise<OperatorOutput>;

/** Wraps `Orchestrator.dispatch`. Failures are `OrchestratorError`s; anything else it throws becomes one of kind `dispatch-failed`. */
export interface DispatchMiddleware {
  readonly name: string;
  dispatch(operator: string, input: OperatorInput, next: DispatchNext, options: DispatchOptions): Promise<OperatorOutput>;
}

/** A dispatch middleware that only watches: `next` gives the outcome, and what it returns or throws changes nothing. */
export interface DispatchObserver {
  readonly name: string;
  dispatch(operator: string, input: OperatorInput, next: () => Promise<OperatorOutput>, options: DispatchOptions): unknown;
}

export type DispatchStack = Stack<DispatchRequest, OperatorOutput>;

/** ```ts
 * const stack = createDispatchStack().observe(logDispatches({ now: Date.now, write: console.log })).guard(denyOperators(["deploy"])).build();
 * const orchestrator = withDispatchMiddleware(createLocalOrchestrator({ operators }), stack);
 * ```
 */
export function createDispatchStack(options: StackOptions = {}): StackBuilder<DispatchMiddleware, DispatchObserver, DispatchStack> {
  checkOptionNames("createDispatchStack", options, STACK_OPTIONS);
  return stackBuilder((layers) => composeStack(adaptLayers(layers), options, dispatchErrors));
}

function adaptLayers({
  observers,
  transformers,
  guards,
}: Layers<DispatchMiddleware, DispatchObserver>): Layers<
  Middleware<DispatchRequest, OperatorOutput>,
  Observer<DispatchRequest, OperatorOutput>
> {
  const adapt = (middleware: DispatchMiddleware): Middleware<DispatchRequest, OperatorOutput> => ({
    name: middleware.name,
    handle: ({ operator, input, options }, next) =>
      middleware.dispatch(
        operator,
        input,
        (otherOperator = operator, otherInput = input) => next({ operator: otherOperator, input: otherInput, options }),
        options,
      ),
  });
  return {
    observers: observers.map((observer) => ({
      name: observer.name,
      handle: ({ operator, input, options }, next) => observer.dispatch(operator, input, () => next(), options),
    })),
    transformers: transformers.map(adapt),
    guards: guards.map(adapt),
  };
}

const dispatchErrors: StackErrors = boundaryErrors(
  (error) => OrchestratorError.is(error),
  (message, options) => new OrchestratorError({ kind: "dispatch-failed", message }, options),
);
