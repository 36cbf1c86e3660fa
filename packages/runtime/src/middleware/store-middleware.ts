import {
  StateError,
  type JsonValue,
  type Page,
  type Scope,
  type SearchOptions,
  type SearchResult,
  type StateStore,
  type StoredValue,
  type StoreOptions,
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
import { checkMethodOptions } from "../json/check-method-options.ts";
import { STATE_STORE_METHODS } from "../json/interface-methods.ts";

/**
 * Wraps the methods of a `StateStore` that it has; the others forward. What `next` is not given stays as it is. Failures are
 * `StateError`s; anything else it throws becomes one of kind `other`.
 */
export interface StoreMiddleware {
  readonly name: string;
  read?(
    scope: Scope,
    key: string,
    next: (scope?: Scope, key?: string) => Promise<StoredValue | undefined>,
  ): Promise<StoredValue | undefined>;
  write?(
    scope: Scope,
    key: string,
    value: JsonValue,
    options: StoreOptions | undefined,
    next: (scope?: Scope, key?: string, value?: JsonValue, options?: StoreOptions) => Promise<number>,
  ): Promise<number>;
  delete?(scope: Scope, key: string, next: (scope?: Scope, key?: string) => Promise<void>): Promise<void>;
  list?(
    scope: Scope,
    prefix: string,
    page: Page | undefined,
    next: (scope?: Scope, prefix?: string, page?: Page) => Promise<readonly string[]>,
  ): Promise<readonly string[]>;
  search?(
    scope: Scope,
    query: string,
    options: SearchOptions | undefined,
    next: (scope?: Scope, query?: string, options?: SearchOptions) => Promise<readonly SearchResult[]>,
  ): Promise<readonly SearchResult[]>;
}

/** A store middleware that only watches: `next` gives the outcome, and what it returns or throws changes nothing. */
export interface StoreObserver {
  readonly name: string;
  read?(scope: Scope, key: string, next: () => Promise<StoredValue | undefined>): unknown;
  write?(scope: Scope, key: string, value: JsonValue, options: StoreOptions | undefined, next: () => Promise<number>): unknown;
  delete?(scope: Scope, key: string, next: () => Promise<void>): unknown;
  list?(scope: Scope, prefix: string, page: Page | undefined, next: () => Promise<readonly string[]>): unknown;
  search?(scope: Scope, query: string, options: SearchOptions | undefined, next: () => Promise<readonly SearchResult[]>): unknown;
}

type Operations = "read" | "write" | "delete" | "list" | "search";
type Arguments<K extends Operations> = Parameters<StateStore[K]>;
type ResultOf<K extends Operations> = Awaited<ReturnType<StateStore[K]>>;

/** One onion for each operation: a middleware costs nothing where it has no method. */
export type StoreStack = { readonly [K in Operations]: Stack<Arguments<K>, ResultOf<K>> };

export function createStoreStack(options: StackOptions = {}): StackBuilder<StoreMiddleware, StoreObserver, StoreStack> {
  checkOptionNames("createStoreStack", options, STACK_OPTIONS);
  return stackBuilder((layers) => {
    const compose = <K extends Operations>(operation: K, arity: number): Stack<Arguments<K>, ResultOf<K>> =>
      composeStack<Arguments<K>, ResultOf<K>>(layersOf(layers, operation, arity), options, storeErrors);
    return {
      read: compose("read", 2),
      write: compose("write", 4),
      delete: compose("delete", 2),
      list: compose("list", 3),
      search: compose("search", 3),
    };
  });
}

/** The same store with middleware around its operations. Disposing it disposes the store. */
export function withStoreMiddleware(store: StateStore, stack: StoreStack): StateStore {
  const wrapped: StateStore = {
    read: (...request) => stack.read.run(request, (final) => store.read(...final)),
    write: (...request) => stack.write.run(request, (final) => store.write(...final)),
    delete: (...request) => stack.delete.run(request, (final) => store.delete(...final)),
    list: (...request) => stack.list.run(request, (final) => store.list(...final)),
    search: (...request) => stack.search.run(request, (final) => store.search(...final)),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
  return checkMethodOptions("store", wrapped, STATE_STORE_METHODS);
}

type Method = (...values: readonly unknown[]) => unknown;

/** @param arity how many arguments stand before `next`, given or not */
function layersOf<K extends Operations>(
  { observers, transformers, guards }: Layers<StoreMiddleware, StoreObserver>,
  operation: K,
  arity: number,
): Layers<Middleware<Arguments<K>, ResultOf<K>>, Observer<Arguments<K>, ResultOf<K>>> {
  const padded = (request: Arguments<K>): unknown[] => Array.from({ length: arity }, (_, index) => request[index]);
  const has = (middleware: StoreMiddleware | StoreObserver): boolean => middleware[operation] !== undefined;
  const adapt = (middleware: StoreMiddleware): Middleware<Arguments<K>, ResultOf<K>> => ({
    name: middleware.name,
    handle: (request, next) =>
      (middleware[operation] as Method).call(middleware, ...padded(request), (...changed: readonly unknown[]) =>
        next(padded(request).map((value, index) => (changed[index] === undefined ? value : changed[index])) as Arguments<K>),
      ) as Promise<ResultOf<K>>,
  });
  return {
    observers: observers.filter(has).map((observer) => ({
      name: observer.name,
      handle: (request, next) => (observer[operation] as Method).call(observer, ...padded(request), () => next()),
    })),
    transformers: transformers.filter(has).map(adapt),
    guards: guards.filter(has).map(adapt),
  };
}

const storeErrors: StackErrors = boundaryErrors(
  (error) => StateError.is(error),
  (message, options) => new StateError({ kind: "other", message }, options),
);
