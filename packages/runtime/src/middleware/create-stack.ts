import { checkOptionNames, type OptionNames } from "../json/option-names.ts";

/** Goes on inward: to the next middleware, and in the end to what the stack is wrapped around. */
export type Next<Request, Response> = (request: Request) => Promise<Response>;

/**
 * Wraps one call. What it does before `next` is preparation, after it finishing; what it passes to `next` goes inward, what
 * it returns goes outward. `next` may be called once.
 */
export interface Middleware<Request, Response> {
  /** Names it in errors and reports. */
  readonly name: string;
  handle(request: Request, next: Next<Request, Response>): Promise<Response>;
}

/** Watches one call. It sees the request, and what `next` resolves to; nothing it returns or throws changes either. */
export interface Observer<Request, Response> {
  readonly name: string;
  handle(request: Request, next: () => Promise<Response>): unknown;
}

/** What an observer stumbled over, or a middleware that failed where nobody else learns of it. */
export interface MiddlewareReport {
  readonly middleware: string;
  readonly error: unknown;
}

export interface StackOptions {
  /** Is told of observers that failed. Default: a warning of the process. */
  readonly report?: ((report: MiddlewareReport) => void) | undefined;
}

export const STACK_OPTIONS: OptionNames<StackOptions> = { report: true };

/** How a boundary speaks of what its middleware did wrong. */
export interface StackErrors {
  /** A middleware broke a rule of the stack. */
  misuse(message: string): Error;
  /** A transformer or a guard threw. Errors of the boundary itself stay as they are. */
  failed(middleware: string, error: unknown): unknown;
}

/** Middleware around one kind of call, ready to run. */
export interface Stack<Request, Response> {
  /** In the order in which they are called. */
  readonly names: readonly string[];
  run(request: Request, terminal: Next<Request, Response>): Promise<Response>;
}

/**
 * Collects middleware; each call gives a new builder. The order of calls is: observers, transformers, guards, each in the order
 * in which they were added, then what is wrapped.
 */
export interface StackBuilder<M, O, S> {
  /** Outermost: sees what the caller sees, also of calls that a guard refused. */
  observe(observer: O): StackBuilder<M, O, S>;
  /** May change the request and the response. Must call `next`. */
  transform(middleware: M): StackBuilder<M, O, S>;
  /** Innermost, so that it judges the final request. May respond or refuse instead of calling `next`. */
  guard(middleware: M): StackBuilder<M, O, S>;
  build(): S;
}

export interface Layers<M, O> {
  readonly observers: readonly O[];
  readonly transformers: readonly M[];
  readonly guards: readonly M[];
}

/** The errors of one boundary: its own pass as they are, anything else that middleware throws becomes one of them. */
export function boundaryErrors(
  isOwn: (error: unknown) => boolean,
  make: (message: string, options?: { readonly cause: unknown }) => Error,
): StackErrors {
  return {
    misuse: (message) => make(message),
    failed(middleware, error) {
      if (isOwn(error)) return error;
      return make(`The middleware "${middleware}" failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    },
  };
}

/** @param build makes the stack of what was collected */
export function stackBuilder<M, O, S>(
  build: (layers: Layers<M, O>) => S,
  layers: Layers<M, O> = { observers: [], transformers: [], guards: [] },
): StackBuilder<M, O, S> {
  return {
    observe: (observer) => stackBuilder(build, { ...layers, observers: [...layers.observers, observer] }),
    transform: (middleware) => stackBuilder(build, { ...layers, transformers: [...layers.transformers, middleware] }),
    guard: (middleware) => stackBuilder(build, { ...layers, guards: [...layers.guards, middleware] }),
    build: () => build(layers),
  };
}

/**
 * The one onion: middleware around any call that takes a request and promises a response. Those around dispatches, stores and
 * environments are made of it.
 *
 * ```ts
 * const stack = createStack<string, number>().guard({ name: "no-empty", handle: async (text, next) => (text === "" ? 0 : next(text)) }).build();
 * await stack.run("four", async (text) => text.length);
 * ```
 */
export function createStack<Request, Response>(
  options: StackOptions = {},
  errors: StackErrors = plainErrors,
): StackBuilder<Middleware<Request, Response>, Observer<Request, Response>, Stack<Request, Response>> {
  checkOptionNames("createStack", options, STACK_OPTIONS);
  return stackBuilder((layers) => composeStack(layers, options, errors));
}

type Layer<Request, Response> = (request: Request, next: Next<Request, Response>) => Promise<Response>;

export function composeStack<Request, Response>(
  { observers, transformers, guards }: Layers<Middleware<Request, Response>, Observer<Request, Response>>,
  { report = warn }: StackOptions,
  errors: StackErrors,
): Stack<Request, Response> {
  const layers: readonly Layer<Request, Response>[] = [
    ...observers.map(
      (observer): Layer<Request, Response> =>
        (request, next) =>
          watch(observer, request, next, report),
    ),
    ...transformers.map(
      (middleware): Layer<Request, Response> =>
        (request, next) =>
          pass(middleware, true, request, next, errors),
    ),
    ...guards.map(
      (middleware): Layer<Request, Response> =>
        (request, next) =>
          pass(middleware, false, request, next, errors),
    ),
  ];
  return {
    names: [...observers, ...transformers, ...guards].map(({ name }) => name),
    run(request, terminal) {
      if (layers.length === 0) return terminal(request);
      const inmost: Next<Request, Response> = async (final) => terminal(final);
      const onion = layers.reduceRight<Next<Request, Response>>((next, layer) => (current) => layer(current, next), inmost);
      return onion(request);
    },
  };
}

/** The call goes on whatever the observer does, once, with the request as it came; the caller waits for the observer to finish. */
async function watch<Request, Response>(
  observer: Observer<Request, Response>,
  request: Request,
  next: Next<Request, Response>,
  report: (report: MiddlewareReport) => void,
): Promise<Response> {
  let inner: Promise<Response> | undefined;
  let failure: { readonly error: unknown } | undefined;
  const goOn = (): Promise<Response> => {
    if (inner === undefined) {
      inner = next(request);
      inner.catch((error: unknown) => (failure = { error }));
    }
    return inner;
  };
  try {
    await observer.handle(request, goOn);
  } catch (error) {
    // That the call failed is no failure of who watched it fail.
    if (failure?.error !== error) tell(report, { middleware: observer.name, error });
  }
  return goOn();
}

async function pass<Request, Response>(
  middleware: Middleware<Request, Response>,
  mustCallNext: boolean,
  request: Request,
  next: Next<Request, Response>,
  errors: StackErrors,
): Promise<Response> {
  let inner: Promise<Response> | undefined;
  let isSettled = false;
  let failure: { readonly error: unknown } | undefined;
  let misuse: Error | undefined;
  const once = (changed: Request): Promise<Response> => {
    if (inner !== undefined) {
      misuse = errors.misuse(`The middleware "${middleware.name}" called next twice; it may go on once.`);
      const refused = Promise.reject(misuse);
      // The call fails with it, also when nobody looks at this promise.
      refused.catch(() => {});
      return refused;
    }
    inner = next(changed);
    inner.then(
      () => (isSettled = true),
      (error: unknown) => {
        isSettled = true;
        failure = { error };
      },
    );
    return inner;
  };

  let response: Response;
  try {
    response = await middleware.handle(request, once);
  } catch (error) {
    // What was begun is over before the caller hears of the failure.
    await inner?.catch(() => {});
    if (misuse !== undefined) throw misuse;
    throw failure?.error === error ? error : errors.failed(middleware.name, error);
  }
  // Not awaited by the middleware: the caller waits, and learns of a failure that nobody else has seen.
  if (inner !== undefined && !isSettled) await inner;
  if (misuse !== undefined) throw misuse;
  if (inner === undefined && mustCallNext)
    throw errors.misuse(`The transformer "${middleware.name}" did not call next; only a guard may respond in its place.`);
  return response;
}

function tell(report: (report: MiddlewareReport) => void, failure: MiddlewareReport): void {
  try {
    report(failure);
  } catch (error) {
    warn(failure);
    warn({ middleware: "report", error });
  }
}

function warn({ middleware, error }: MiddlewareReport): void {
  process.emitWarning(
    `The observer "${middleware}" failed, and the call went on without it: ${error instanceof Error ? error.message : String(error)}`,
    { type: "KeelsonMiddlewareWarning" },
  );
}

const plainErrors: StackErrors = { misuse: (message) => new Error(message), failed: (_middleware, error) => error };
