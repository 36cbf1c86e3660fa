import { listedPrices, type ModelPrice, type ModelRegistry } from "keelson/providers";

/** A model that can be chosen. */
export interface KnownModel {
  /** `provider/id` */
  readonly reference: string;
  /** Tokens of input and output together. Absent: unknown. */
  readonly contextWindow?: number;
  /** `null`: unknown. */
  readonly price: ModelPrice | null;
}

/** Names of providers whose models are listed under the name of another one. */
const SAME_MODELS: { readonly [provider: string]: string } = { "openai-responses": "openai" };
/** Models that no conversation is held with. */
const OTHER_USES =
  /^ft:|embed|moderation|whisper|tts|audio|realtime|image|dall-e|transcribe|search-preview|instruct|babbage|davinci|curie|^ada$/;

/** Returns the models of the price table that this registry has a provider for. */
export function modelsOfTable(models: Pick<ModelRegistry, "providers" | "resolve">): readonly KnownModel[] {
  const vendors = Object.keys(models.providers).filter(
    (name) => !(name in SAME_MODELS && (SAME_MODELS[name] as string) in models.providers),
  );
  return listedPrices()
    .filter(({ vendor, model }) => vendors.includes(vendor) && !OTHER_USES.test(model))
    .flatMap(({ vendor, model }) => knownModel(models, `${vendor}/${model}`) ?? []);
}

/**
 * Asks the vendors for their models. A vendor that does not respond is left out.
 * @param onProblem called for each of these
 */
export async function modelsOfVendors(
  models: Pick<ModelRegistry, "providers" | "resolve">,
  { signal, onProblem = () => {} }: { readonly signal: AbortSignal; readonly onProblem?: (provider: string, error: unknown) => void },
): Promise<readonly KnownModel[]> {
  const lists = await Promise.all(
    Object.entries(models.providers).map(async ([name, provider]) => {
      // A second wire to a vendor lists the same models again.
      if (name in SAME_MODELS && (SAME_MODELS[name] as string) in models.providers) return [];
      try {
        const listed = (await provider.listModels?.({ signal })) ?? [];
        return listed.flatMap(({ id, capabilities, contextWindow }) => {
          if (!capabilities.toolCalling || OTHER_USES.test(id)) return [];
          const known = knownModel(models, `${name}/${id}`);
          if (known === undefined) return [];
          return [contextWindow === null ? known : { ...known, contextWindow }];
        });
      } catch (error) {
        onProblem(name, error);
        return [];
      }
    }),
  );
  return lists.flat();
}

/** Returns a model with its price and window. `undefined`: there is no way to it, or it cannot call tools. */
export function knownModel(models: Pick<ModelRegistry, "resolve">, reference: string): KnownModel | undefined {
  try {
    const { price, facts } = models.resolve(reference);
    if (facts.capabilities?.toolCalling === false) return undefined;
    return { reference, price, ...(facts.contextWindow !== undefined && { contextWindow: facts.contextWindow }) };
  } catch {
    return undefined;
  }
}
