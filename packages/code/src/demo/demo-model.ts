import { setTimeout as wait } from "node:timers/promises";
import { createModelRegistry, type ModelRegistry } from "keelson/providers";
import { scriptedModel } from "keelson/testing";
import type { KnownSecrets } from "../core/known-secrets.ts";
import { openModels } from "../core/model-access.ts";
import { createPacedProvider } from "./paced-provider.ts";
import { REPAIR_SCRIPT } from "./repair-script.ts";

export interface DemoModel {
  readonly models: ModelRegistry;
  readonly secrets: KnownSecrets;
  readonly model: string;
  readonly scripted: boolean;
  /** Why there is a script in the model's place. */
  readonly reason?: string;
}

const SCRIPTED = "scripted/repair";
// A pace that can be read along with; nobody reads along in a pipe.
const WORD_MS = 14;

/** The model of the first key or server that is there; without one, the script. */
export async function openDemoModel(
  environment: { readonly [name: string]: string | undefined },
  { live }: { readonly live: boolean },
): Promise<DemoModel> {
  const { models, defaultModel, secrets } = await openModels(environment);
  const found = await defaultModel().then(
    (model) => ({ model, reason: model === undefined && Object.keys(models.providers).length > 0 ? "no model found" : "no API key found" }),
    (error: unknown) => ({ model: undefined, reason: error instanceof Error ? error.message : String(error) }),
  );
  if (found.model !== undefined) return { models, secrets, model: found.model, scripted: false };
  const provider = createPacedProvider(scriptedModel(REPAIR_SCRIPT), {
    wordMs: live ? WORD_MS : 0,
    sleep: async (ms, signal) => void (await wait(ms, undefined, signal === undefined ? {} : { signal })),
  });
  const free = { input: "0", output: "0", asOf: "2026-01-01" };
  return {
    models: createModelRegistry({ providers: { scripted: provider }, prices: { [SCRIPTED]: free } }),
    secrets,
    model: SCRIPTED,
    scripted: true,
    reason: found.reason,
  };
}
