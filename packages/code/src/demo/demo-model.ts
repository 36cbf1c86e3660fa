import { setTimeout as wait } from "node:timers/promises";
import { createModelRegistry, type ModelRegistry } from "keelson/providers";
import { scriptedModel } from "keelson/testing";
import { openModels } from "../core/model-access.ts";
import { createLivelyProvider } from "./lively-provider.ts";
import { REPAIR_SCRIPT } from "./repair-script.ts";

export interface DemoModel {
  readonly models: ModelRegistry;
  readonly model: string;
  readonly scripted: boolean;
}

const SCRIPTED = "scripted/repair";
// A pace that can be read along with; nobody reads along in a pipe.
const WORD_MS = 14;

/** The model of the first key that is there; without a key, the script. */
export async function openDemoModel(
  environment: { readonly [name: string]: string | undefined },
  { live }: { readonly live: boolean },
): Promise<DemoModel> {
  const { models, defaultModel } = await openModels(environment);
  if (defaultModel !== undefined) return { models, model: defaultModel, scripted: false };
  const provider = createLivelyProvider(scriptedModel(REPAIR_SCRIPT), {
    wordMs: live ? WORD_MS : 0,
    sleep: async (ms, signal) => void (await wait(ms, undefined, signal === undefined ? {} : { signal })),
  });
  const free = { input: "0", output: "0", asOf: "2026-01-01" };
  return {
    models: createModelRegistry({ providers: { scripted: provider }, prices: { [SCRIPTED]: free } }),
    model: SCRIPTED,
    scripted: true,
  };
}
