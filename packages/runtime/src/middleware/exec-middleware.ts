import {
  EnvironmentError,
  type Environment,
  type EnvironmentSpec,
  type ExecutionContext,
  type OperatorInput,
  type OperatorOutput,
} from "@keelson/protocol";
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

export interface ExecRequest {
  readonly input: OperatorInput;
  readonly spec: EnvironmentSpec;
  readonly context: ExecutionContext;
}

/** What is left out stays as it is. */
export type ExecNext = (input?: OperatorInput, spec?: EnvironmentSpec) => Promise<OperatorOutput>;

/** Wraps `Environment.run`. Failures are `EnvironmentError`s; anything else it throws becomes one of kind `other`. */
export interface ExecMiddleware {
  readonly name: string;
  run(input: OperatorInput, spec: EnvironmentSpec, next: ExecNext, context: ExecutionContext): Promise<OperatorOutput>;
}

/** An exec middleware that only watches: `next` gives the outcome, and what it returns or throws changes nothing. */
export interface ExecObserver {
  readonly name: string;
  run(input: OperatorInput, spec: EnvironmentSpec, next: () => Promise<OperatorOutput>, context: ExecutionContext): unknown;
}

export type ExecStack = Stack<ExecRequest, OperatorOutput>;

export function createExecStack(options: StackOptions = {}): StackBuilder<ExecMiddleware, ExecObserver, ExecStack> {
  checkOptionNames("createExecStack", options, STACK_OPTIONS);
  return stackBuilder((layers) => composeStack(adaptLayers(layers), options, execErrors));
}

/** The same environment with middleware around each run of an operator. What it opens for tools is as it was: tools have hooks and gates. */
export function withExecMiddleware(environment: Environment, stack: ExecStack): Environment {
  const { open } = environment;
  return {
    ...(open && { open: open.bind(environment) }),
    run: (input, spec, context) =>
      stack.run({ input, spec, context }, (request) => environment.run(request.input, request.spec, request.context)),
  };
}

function adaptLayers({
  observers,
  transformers,
  guards,
}: Layers<ExecMiddleware, ExecObserver>): Layers<Middleware<ExecRequest, OperatorOutput>, Observer<ExecRequest, OperatorOutput>> {
  const adapt = (middleware: ExecMiddleware): Middleware<ExecRequest, OperatorOutput> => ({
    name: middleware.name,
    handle: ({ input, spec, context }, next) =>
      middleware.run(input, spec, (otherInput = input, otherSpec = spec) => next({ input: otherInput, spec: otherSpec, context }), context),
  });
  return {
    observers: observers.map((observer) => ({
      name: observer.name,
      handle: ({ input, spec, context }, next) => observer.run(input, spec, () => next(), context),
    })),
    transformers: transformers.map(adapt),
    guards: guards.map(adapt),
  };
}

const execErrors: StackErrors = boundaryErrors(
  (error) => EnvironmentError.is(error),
  (message, options) => new EnvironmentError({ kind: "other", message }, options),
);
