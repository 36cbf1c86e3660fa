import type { FilesystemConfig, NetworkConfig, SandboxConfig } from "../sandbox.ts";
import { type Codec, fields, flag, list, optional, text } from "./codec.ts";

/** Closed, as all that grants or takes away rights. */
export const sandboxConfigCodec: Codec<SandboxConfig> = fields<SandboxConfig>({
  enabled: flag,
  network: optional(
    fields<NetworkConfig>({ enabled: flag, allowedDomains: optional(list(text())), deniedDomains: optional(list(text())) }),
  ),
  filesystem: optional(fields<FilesystemConfig>({ allowedRoots: optional(list(text())), deniedPaths: optional(list(text())) })),
  allowedCommands: optional(list(text())),
  deniedCommands: optional(list(text())),
});
