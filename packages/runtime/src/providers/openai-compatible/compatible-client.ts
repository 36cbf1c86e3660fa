import { ModelError } from "@keelson/protocol";
import { ApiClient, type ProviderOptions } from "../provider-options.ts";
import type { VendorQuirks } from "./vendor-quirks.ts";
import { quirksOf } from "./vendors.ts";

export interface CompatibleServer {
  readonly options: ProviderOptions;
  readonly vendor: string;
  readonly quirks: VendorQuirks;
  /** What failures call it. */
  readonly name: string;
}

/** The client of a vendor's server, made by the first request: only that needs an address, and a provider can be made before its environment is complete. */
export function compatibleClient({ options, vendor, quirks, name }: CompatibleServer): () => ApiClient {
  const { keyHeader } = quirks;
  let client: ApiClient | undefined;
  return () =>
    (client ??= new ApiClient({
      options,
      provider: name,
      defaultBaseUrl: options.baseUrl ?? addressOf(quirks, vendor, name),
      environmentVariable: quirks.keyVariable ?? vendorVariable(vendor, "API_KEY"),
      keyOptional: quirks.local === true || options.baseUrl !== undefined,
      authorize: (key): { readonly [header: string]: string } =>
        keyHeader === undefined ? { authorization: `Bearer ${key}` } : { [keyHeader]: key },
      ...(quirks.headers !== undefined && { headers: quirks.headers }),
    }));
}

/** The environment variables that give access to a vendor: his key, and where his server is when that is not the usual place. */
export function vendorVariables(vendor: string): { readonly key: string; readonly baseUrl: string } {
  return { key: quirksOf(vendor).keyVariable ?? vendorVariable(vendor, "API_KEY"), baseUrl: vendorVariable(vendor, "BASE_URL") };
}

function vendorVariable(vendor: string, what: string): string {
  return `${vendor.toUpperCase().replace(/[^A-Z0-9]+/g, "_")}_${what}`;
}

function addressOf({ baseUrl }: VendorQuirks, vendor: string, provider: string): string {
  if (baseUrl === undefined)
    throw new ModelError({ kind: "invalid-request", message: `no address is known for the vendor "${vendor}": pass baseUrl`, provider });
  return baseUrl.replace(/\{(\w+)\}/g, (_, variable: string) => {
    const value = process.env[variable];
    if (value === undefined || value === "")
      throw new ModelError({
        kind: "invalid-request",
        message: `the address of ${vendor} needs ${variable}: set it or pass baseUrl`,
        provider,
      });
    return value.replace(/\/+$/, "");
  });
}
