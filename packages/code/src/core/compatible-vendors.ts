import type { Provider } from "@keelson/protocol";
import type { ConfiguredKey, ConfiguredKeys } from "./configured-keys.ts";

export interface CompatibleAccess {
  readonly vendor: string;
  /** The variables that are set. */
  readonly variables: readonly string[];
  readonly apiKey: string | (() => Promise<string>) | undefined;
  readonly baseUrl: string | undefined;
}

type Environment = { readonly [name: string]: string | undefined };

/** They are reached over their own wires. */
const OWN_WIRES: ReadonlySet<string> = new Set(["anthropic", "google", "ollama", "openai"]);
const OWN_VARIABLES = /^(?:ANTHROPIC|OPENAI|GEMINI|OLLAMA)_/;
/** How the variables end that may give access, so that the table of vendors is read only when one of them is set. */
const LIKELY = /_(?:KEY|TOKEN|PAT|BEDROCK|BASE_URL)$/;

/** The vendors of the chat wire that the environment gives access to: by their key, or by `<VENDOR>_BASE_URL` for servers without one. */
export async function compatibleAccess(environment: Environment, keys: ConfiguredKeys): Promise<readonly CompatibleAccess[]> {
  const set = [...keys.keys(), ...Object.keys(environment).filter((name) => isSet(environment[name]))];
  const likely = set.some((name) => LIKELY.test(name) && !OWN_VARIABLES.test(name));
  if (!likely) return [];
  const { KNOWN_VENDORS, vendorVariables } = await import("keelson/providers/openai-compatible");
  return KNOWN_VENDORS.filter((vendor) => !OWN_WIRES.has(vendor)).flatMap((vendor) => {
    const names = vendorVariables(vendor);
    const variables = [names.key, names.baseUrl].filter((name) => set.includes(name));
    if (variables.length === 0) return [];
    const apiKey = environment[names.key] || (keys.has(names.key) ? () => (keys.get(names.key) as ConfiguredKey).read() : undefined);
    return [{ vendor, variables, apiKey, baseUrl: environment[names.baseUrl] || undefined }];
  });
}

export async function openCompatibleVendors(
  environment: Environment,
  keys: ConfiguredKeys,
): Promise<readonly (readonly [string, Provider])[]> {
  const found = await compatibleAccess(environment, keys);
  if (found.length === 0) return [];
  const { createOpenAiCompatibleProvider } = await import("keelson/providers/openai-compatible");
  return found.map(({ vendor, apiKey, baseUrl }) => [
    vendor,
    createOpenAiCompatibleProvider({ vendor, ...(apiKey !== undefined && { apiKey }), ...(baseUrl !== undefined && { baseUrl }) }),
  ]);
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}
