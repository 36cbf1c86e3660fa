import {
  EnvironmentError,
  type JsonObject,
  type JsonValue,
  type KeyRing,
  type Scope,
  StateError,
  type StateStore,
  type StoredValue,
  type StoreOptions,
} from "@keelson/protocol";
import { createSealer, type Sealer } from "../../environment/crypto/sealer.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import type { StoreMiddleware } from "../../middleware/store-middleware.ts";
import { systemClock } from "../../platform/clock.ts";
import { jsonText } from "../../state/kit/state-entry.ts";
import { scopeName } from "../../state/kit/state-scope.ts";
import { FLAG_OPTION, FUNCTION_OPTION } from "../../json/option-rules.ts";

export interface EncryptStoreOptions {
  readonly keys: KeyRing;
  /** Whether values that were written without encryption are read as they are, while a store is being moved to it. Default false. */
  readonly mayBePlain?: boolean | undefined;
}

/** The member that a sealed value stands in, alone. */
const SEALED = "~sealed";
/** Keys that are resealed are listed so many at a time. */
const PAGE = 500;

/**
 * Encryption at rest: values and their metadata are sealed (AES-256-GCM) before a store gets them, for their scope and key; moved to another
 * place they don't open. Keys and scopes, tiers, kinds, salience and ends stay readable, since a store goes by them. Searches find nothing:
 * a store can't look into what it holds. Add it as the last transformer, next to the store.
 */
export function encryptStore(options: EncryptStoreOptions): StoreMiddleware {
  checkOptionNames("encryptStore", options, { keys: true, mayBePlain: FLAG_OPTION });
  const { keys, mayBePlain = false } = options;
  const sealer = createSealer(keys);
  return {
    name: "encrypt-store",
    async read(scope, key, next) {
      const stored = await next();
      return stored && openStored(sealer, scope, key, stored, mayBePlain);
    },
    async write(scope, key, value, given, next) {
      const sealed = await sealText(sealer, placeOf(scope, key), jsonText(key, "value", value));
      return next(undefined, undefined, sealed, await sealOptions(sealer, scope, key, given));
    },
    // A query without words, which finds nothing.
    search: (_scope, _query, _options, next) => next(undefined, ""),
  };
}

/**
 * Seals what a scope holds under the current key, where it is under another one or plain: afterwards the old key is needed no more. What
 * somebody writes meanwhile is left as they write it.
 * @param store the store itself, without `encryptStore` around it
 * @returns how many values were written anew
 */
export async function resealStore(
  store: StateStore,
  scope: Scope,
  options: EncryptStoreOptions & { readonly now?: (() => number) | undefined },
): Promise<number> {
  checkOptionNames("resealStore", options, { keys: true, mayBePlain: FLAG_OPTION, now: FUNCTION_OPTION });
  const { keys, mayBePlain = false, now = systemClock.now } = options;
  const sealer = createSealer(keys);
  let count = 0;
  for (let after: string | undefined; ;) {
    const page = await store.list(scope, "", { limit: PAGE, ...(after !== undefined && { after }) });
    for (const key of page) {
      const stored = await store.read(scope, key);
      if (stored === undefined) continue;
      const text = sealedText(stored.value);
      if (text !== undefined && (await sealer.resealText(text, placeOf(scope, key)).catch(refuse(scope, key))) === text) continue;
      const opened = await openStored(sealer, scope, key, stored, mayBePlain);
      const { value, version, expiresAt, metadata, ...others } = opened;
      const kept: StoreOptions = {
        ...(others as StoreOptions),
        ...(metadata !== undefined && { metadata }),
        ...(expiresAt !== undefined && { ttlMs: Math.max(1, expiresAt - now()) }),
        ifVersion: version,
      };
      try {
        await store.write(
          scope,
          key,
          await sealText(sealer, placeOf(scope, key), jsonText(key, "value", value)),
          await sealOptions(sealer, scope, key, kept),
        );
        count++;
      } catch (error) {
        // Somebody wrote it meanwhile, under the current key.
        if (!StateError.is(error, "conflict")) throw error;
      }
    }
    after = page.at(-1);
    if (page.length < PAGE) return count;
  }
}

async function openStored(sealer: Sealer, scope: Scope, key: string, stored: StoredValue, mayBePlain: boolean): Promise<StoredValue> {
  const text = sealedText(stored.value);
  if (text === undefined && !mayBePlain)
    throw new StateError({
      kind: "corrupt",
      message: `"${key}" in ${scopeName(scope)} is not encrypted, and was perhaps put there by somebody who has no key. Where it was written before encryption was on, allow that with mayBePlain and seal it with resealStore.`,
    });
  const open = async (sealed: string, place: string): Promise<JsonValue> =>
    JSON.parse(await sealer.openText(sealed, place).catch(refuse(scope, key))) as JsonValue;
  const { metadata, ...others } = stored;
  const sealedMetadata = metadata && sealedText(metadata);
  return {
    ...others,
    value: text === undefined ? stored.value : await open(text, placeOf(scope, key)),
    ...(metadata !== undefined && {
      metadata: sealedMetadata === undefined ? metadata : ((await open(sealedMetadata, metadataPlaceOf(scope, key))) as JsonObject),
    }),
  };
}

async function sealText(sealer: Sealer, place: string, text: string): Promise<JsonObject> {
  return { [SEALED]: await sealer.sealText(text, place) };
}

async function sealOptions(sealer: Sealer, scope: Scope, key: string, given: StoreOptions | undefined): Promise<StoreOptions | undefined> {
  if (given?.metadata === undefined) return given;
  const text = jsonText(key, "metadata", given.metadata);
  return { ...given, metadata: await sealText(sealer, metadataPlaceOf(scope, key), text) };
}

function sealedText(value: JsonValue): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { [SEALED]: text, ...others } = value as { readonly [name: string]: JsonValue };
  return typeof text === "string" && Object.keys(others).length === 0 ? text : undefined;
}

// No scope has a line break in its name, and no two scopes one name.
function placeOf(scope: Scope, key: string): string {
  return `state\n${scopeName(scope)}\n${key}`;
}

function metadataPlaceOf(scope: Scope, key: string): string {
  return `state metadata\n${scopeName(scope)}\n${key}`;
}

function refuse(scope: Scope, key: string): (error: unknown) => never {
  return (cause) => {
    if (!EnvironmentError.is(cause)) throw cause;
    throw new StateError(
      {
        kind: "corrupt",
        message: `"${key}" in ${scopeName(scope)} can't be opened: ${(cause as EnvironmentError).message} What is stored was left as it is.`,
      },
      { cause },
    );
  };
}
