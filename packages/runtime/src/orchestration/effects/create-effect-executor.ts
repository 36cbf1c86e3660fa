import { DirectiveError, type Directive, type Effect, type EffectContext, type EffectExecutor, type JsonValue } from "@keelson/protocol";
import { unknownPayload, type DirectivePayloads, type PayloadTypes } from "../../agent/features/effects/directive-payloads.ts";
import { systemClock, type Clock } from "../../platform/clock.ts";
import { describeThrown } from "../../tools/describe-thrown.ts";
import { checkOptionNames } from "../../json/option-names.ts";

/** What a handler returns for a directive goes before the model in the next turn; nothing goes back for nothing. */
type Routed = JsonValue | undefined | void;

export type Handler<E> = (effect: E, context: EffectContext) => Routed | Promise<Routed>;

/** Handlers by type of effect. */
export type EffectHandlers = {
  readonly [T in Exclude<Effect["type"], "directive" | "other">]?: Handler<Extract<Effect, { readonly type: T }>>;
};

/** Handlers by type of directive. That of `custom` takes those that have no handler of their own. */
export type DirectiveHandlers = {
  readonly [T in Exclude<Directive["type"], "other">]?: Handler<Extract<Directive, { readonly type: T }>>;
};

export interface EffectExecutorOptions<Types extends PayloadTypes = Record<never, never>> {
  readonly effects?: EffectHandlers | undefined;
  readonly directives?: DirectiveHandlers | undefined;
  /** Custom effects by name; they go before `effects.custom`. */
  readonly customEffects?: { readonly [name: string]: Handler<JsonValue> } | undefined;
  /** How the payloads of custom directives are read. */
  readonly payloads?: DirectivePayloads<Types> | undefined;
  /** Custom directives by `customType`; each is given its payload as the codec reads it. */
  readonly customDirectives?: { readonly [Name in keyof Types & string]?: Handler<Types[Name]> } | undefined;
  /** What has no handler. Default `fail`, with `DirectiveError` of kind `unsupported`; `ignore` counts it as done. */
  readonly unsupported?: "fail" | "ignore" | undefined;
  /** Milliseconds that one effect may take; then its signal fires and it has failed. Default: no limit but the run's. */
  readonly timeoutMs?: number | undefined;
  /** Of `timeoutMs`. */
  readonly clock?: Clock | undefined;
}

/** Carries out effects by handlers of their type. Whatever a handler throws arrives as a `DirectiveError`. */
export function createEffectExecutor<Types extends PayloadTypes = Record<never, never>>(
  options: EffectExecutorOptions<Types>,
): EffectExecutor {
  checkOptionNames("createEffectExecutor", options, {
    effects: true,
    directives: true,
    customEffects: true,
    payloads: true,
    customDirectives: true,
    unsupported: true,
    timeoutMs: true,
    clock: true,
  });
  const { unsupported = "fail", timeoutMs, clock = systemClock } = options;
  return {
    supports: (effect) => handlerOf(options, effect) !== undefined,
    async execute(effect, context) {
      const name = effect.type === "directive" ? effect.directive.type : effect.type;
      try {
        const handler = handlerOf(options, effect);
        if (handler === undefined) {
          if (unsupported === "ignore") return undefined;
          throw notSupported(options, effect, name);
        }
        if (timeoutMs === undefined) return (await handler(context)) ?? undefined;
        return (await withinTime(name, timeoutMs, clock, handler, context)) ?? undefined;
      } catch (cause) {
        if (DirectiveError.is(cause)) throw cause;
        throw new DirectiveError({ kind: "execution-failed", directive: name, message: describeThrown(cause) }, { cause });
      }
    },
  };
}

/** Takes every effect, does nothing, and routes nothing back. */
export const noOpExecutor: EffectExecutor = {
  supports: () => true,
  execute: async () => undefined,
};

type Bound = (context: EffectContext) => Promise<Routed>;

function handlerOf<Types extends PayloadTypes>(options: EffectExecutorOptions<Types>, effect: Effect): Bound | undefined {
  if (effect.type === "directive") return directiveHandlerOf(options, effect.directive);
  if (effect.type === "other") return undefined;
  if (effect.type === "custom") {
    const named = own(options.customEffects, effect.name);
    if (named) return async (context) => named(effect.payload, context);
  }
  const handler = own(options.effects, effect.type) as Handler<Effect> | undefined;
  return handler && (async (context) => handler(effect, context));
}

function directiveHandlerOf<Types extends PayloadTypes>(options: EffectExecutorOptions<Types>, directive: Directive): Bound | undefined {
  if (directive.type === "other") return undefined;
  if (directive.type === "custom") {
    const { payloads } = options;
    const named = own(options.customDirectives as NamedHandlers, directive.customType);
    if (named) {
      return async (context) => {
        if (payloads === undefined) throw unknownPayload(directive.customType, []);
        return named(await payloads.decode(directive), context);
      };
    }
  }
  const handler = own(options.directives, directive.type) as Handler<Directive> | undefined;
  return handler && (async (context) => handler(directive, context));
}

type NamedHandlers = { readonly [name: string]: Handler<unknown> | undefined } | undefined;

function own<T>(handlers: { readonly [name: string]: T | undefined } | undefined, name: string): T | undefined {
  return handlers !== undefined && Object.hasOwn(handlers, name) ? handlers[name] : undefined;
}

function notSupported<Types extends PayloadTypes>(options: EffectExecutorOptions<Types>, effect: Effect, name: string): DirectiveError {
  if (effect.type === "directive" && effect.directive.type === "custom") {
    const { customType } = effect.directive;
    if (options.payloads?.has(customType) !== true) return unknownPayload(customType, options.payloads?.customTypes ?? []);
    const message = `The payload of "${customType}" is known, but nothing carries it out: give the executor a handler in customDirectives.`;
    return new DirectiveError({ kind: "unsupported", directive: customType, message });
  }
  const what = effect.type === "custom" ? `custom effect "${effect.name}"` : `effect "${name}"`;
  return new DirectiveError({
    kind: "unsupported",
    directive: name,
    message: `Nothing here carries out the ${what}: give the executor a handler.`,
  });
}

async function withinTime(name: string, timeoutMs: number, clock: Clock, handler: Bound, context: EffectContext): Promise<Routed> {
  const controller = new AbortController();
  const forward = (): void => controller.abort(context.signal.reason);
  context.signal.addEventListener("abort", forward, { once: true });
  if (context.signal.aborted) forward();
  let cancel = (): void => {};
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(timeoutMs, () => {
      const message = `"${name}" took longer than ${timeoutMs} ms. It may have taken effect.`;
      reject(new DirectiveError({ kind: "execution-failed", directive: name, message }));
      controller.abort("timeout");
    });
  });
  try {
    return await Promise.race([late, handler({ ...context, signal: controller.signal })]);
  } finally {
    cancel();
    context.signal.removeEventListener("abort", forward);
  }
}
