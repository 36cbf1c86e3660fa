import type { CredentialRef, EnvironmentSpec, IsolationBoundary, NetworkPolicy, NetworkRule, ResourceLimits } from "../environment.ts";
import { count, fields, list, member, oneOf, optional, refuse, tagged, text, type Codec } from "./codec.ts";
import { sandboxConfigCodec } from "./sandbox-codec.ts";
import { versioned } from "./versioned.ts";

type BoundaryOf<T extends IsolationBoundary["type"]> = Extract<IsolationBoundary, { readonly type: T }>;
type Injection = CredentialRef["injection"];
type InjectionOf<T extends Injection["type"]> = Extract<Injection, { readonly type: T }>;

const networkRule = fields<NetworkRule>({ destination: text(), port: optional(count), action: oneOf("allow", "deny") });

/** Closed: a boundary or way of injection that can't be put up must not be skipped. */
function closed<T extends { readonly type: string }>(what: string, codec: Codec<T | { readonly type: "other" }>): Codec<T> {
  return {
    decode(value) {
      const decoded = codec.decode(value);
      if (decoded.type === "other")
        refuse(`this version has no ${what} of type ${JSON.stringify((value as { readonly type: string }).type)}`);
      return decoded as T;
    },
    encode: (value) => codec.encode(value),
  };
}

export const environmentSpecCodec: Codec<EnvironmentSpec> = versioned(
  "environment spec",
  fields<EnvironmentSpec>({
    isolation: list(
      closed<IsolationBoundary>(
        "isolation boundary",
        tagged<IsolationBoundary>("an isolation boundary", {
          "process": member<BoundaryOf<"process">>({}),
          "container": member<BoundaryOf<"container">>({ image: optional(text()) }),
          "gvisor": member<BoundaryOf<"gvisor">>({}),
          "micro-vm": member<BoundaryOf<"micro-vm">>({}),
          "wasm": member<BoundaryOf<"wasm">>({ runtime: optional(text()) }),
          "network-policy": member<BoundaryOf<"network-policy">>({ rules: list(networkRule) }),
          "custom": member<BoundaryOf<"custom">>({ name: text() }),
        }),
      ),
    ),
    credentials: list(
      fields<CredentialRef>({
        name: text(),
        reference: text(),
        injection: closed<Injection>(
          "credential injection",
          tagged<Injection>("a credential injection", {
            "env-var": member<InjectionOf<"env-var">>({ variable: text() }),
            "file": member<InjectionOf<"file">>({ path: text() }),
            "sidecar": member<InjectionOf<"sidecar">>({}),
          }),
        ),
      }),
    ),
    resources: optional(
      fields<ResourceLimits>({ cpu: optional(text()), memory: optional(text()), disk: optional(text()), gpu: optional(text()) }),
    ),
    network: optional(fields<NetworkPolicy>({ default: oneOf("allow", "deny"), rules: list(networkRule) })),
    sandboxes: optional(list(sandboxConfigCodec)),
  }),
);
