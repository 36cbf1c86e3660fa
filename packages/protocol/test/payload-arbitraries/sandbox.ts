import type { SandboxConfig } from "@keelson/protocol";
import fc from "fast-check";
import { asJson, few, some } from "./combinators.ts";
import { text } from "./values.ts";

export const sandboxConfig: fc.Arbitrary<SandboxConfig> = asJson<SandboxConfig>(
  some(
    { enabled: fc.boolean(), deniedCommands: few(text) },
    {
      allowedCommands: few(text),
      network: some({ enabled: fc.boolean(), deniedDomains: few(text) }, { allowedDomains: few(text) }),
      filesystem: fc.record({ allowedRoots: few(text), deniedPaths: few(text) }),
    },
  ),
);
