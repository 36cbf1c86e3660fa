import { createModelRegistry, type ModelRegistry } from "keelson/providers";
import { scriptedModel } from "keelson/testing";
import type { KnownSecrets } from "../core/known-secrets.ts";
import { openModels } from "../core/model-access.ts";
import { createPacedProvider } from "./paced-provider.ts";
import { REPAIR_SCRIPT } from "./repair-script.ts";
import type { ShowPace } from "./show-pace.ts";

export interface DemoModel {
  readonly models: ModelRegistry;
  readonly secrets: KnownSecrets;
  readonly model: string;
  readonly scripted: boolean;
  /** The reason why a script plays the model. */
  readonly reason?: string;
}

const SCRIPTED = "scripted/repair";
/** The figures of a small model of today, so that the script costs what such a model would. */
const PRICE = { input: "1", output: "5", asOf: "2026-01-01" };
const CONTEXT_WINDOW = 200_000;

/** The model of the first key or server that is there; without one, the script. @param pace absent: no person reads along */
export async function openDemoModel(
  environment: { readonly [name: string]: string | undefined },
  pace: ShowPace | undefined,
): Promise<DemoModel> {
  const { models, defaultModel, secrets } = await openModels(environment);
  const found = await defaultModel().then(
    (model) => ({ model, reason: model === undefined && Object.keys(models.providers).length > 0 ? "no model found" : "no API key found" }),
    (error: unknown) => ({ model: undefined, reason: error instanceof Error ? error.message : String(error) }),
  );
  if (found.model !== undefined) return { models, secrets, model: found.model, scripted: false };
  return {
    models: createModelRegistry({
      providers: { scripted: createPacedProvider(scriptedModel(REPAIR_SCRIPT), pace) },
      prices: { [SCRIPTED]: PRICE },
      facts: { [SCRIPTED]: { contextWindow: CONTEXT_WINDOW } },
    }),
    secrets,
    model: SCRIPTED,
    scripted: true,
    reason: found.reason,
  };
}
