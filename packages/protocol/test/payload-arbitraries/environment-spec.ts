import fc from "fast-check";
import type { EnvironmentSpec } from "@keelson/protocol";
import { asJson, few, some } from "./combinators.ts";
import { sandboxConfig } from "./sandbox.ts";
import { count, text } from "./values.ts";

const networkRule = some({ destination: text, action: fc.constantFrom("allow", "deny") }, { port: count });

export const environmentSpec: fc.Arbitrary<EnvironmentSpec> = asJson<EnvironmentSpec>(
  some(
    {
      isolation: few(
        fc.oneof(
          fc.constantFrom("process", "gvisor", "micro-vm").map((type) => ({ type })),
          some({ type: fc.constant("container") }, { image: text }),
          some({ type: fc.constant("wasm") }, { runtime: text }),
          fc.record({ type: fc.constant("network-policy"), rules: few(networkRule) }),
          fc.record({ type: fc.constant("custom"), name: text }),
        ),
      ),
      credentials: few(
        fc.record({
          name: text,
          reference: text,
          injection: fc.oneof(
            fc.record({ type: fc.constant("env-var"), variable: text }),
            fc.record({ type: fc.constant("file"), path: text }),
            fc.record({ type: fc.constant("sidecar") }),
          ),
        }),
      ),
    },
    {
      resources: some({}, { cpu: text, memory: text, disk: text, gpu: text }),
      network: fc.record({ default: fc.constantFrom("allow", "deny"), rules: few(networkRule) }),
      sandboxes: few(sandboxConfig),
    },
  ),
);
