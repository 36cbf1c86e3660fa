import { AgentError, type McpServerConfig } from "@keelson/protocol";
import { checkOptionNames, type OptionNames } from "../../json/option-names.ts";
import { MCP_LOG_LEVELS } from "../log-levels.ts";
import { checkOAuthSettings } from "./authorization/check-oauth-settings.ts";

type ConfigOf<Type extends McpServerConfig["type"]> = Extract<McpServerConfig, { readonly type: Type }>;

const settings = {
  type: true,
  enabled: true,
  required: true,
  startupWaitMs: true,
  connectTimeoutMs: true,
  timeoutMs: true,
  maxTotalMs: true,
  maxMessageBytes: true,
  backgroundAfterMs: true,
  logLevel: true,
  trustAnnotations: true,
} as const;
const http = { ...settings, url: true, authToken: true, headers: true, oauth: true } as const;

const NAMES: { readonly [Type in McpServerConfig["type"]]: OptionNames<ConfigOf<Type>> } = {
  "stdio": { ...settings, command: true, args: true, env: true, cwd: true, sandbox: true },
  http,
  "sse": http,
  "in-process": { ...settings, name: true },
};
const NUMBERS = ["connectTimeoutMs", "timeoutMs", "maxTotalMs", "maxMessageBytes", "backgroundAfterMs"] as const;

/** @throws AgentError of kind `invalid-option` that names what is wrong */
export function checkServerConfig(name: string, config: McpServerConfig): void {
  const of = `The server "${name}"`;
  const invalid = (option: string, message: string): AgentError =>
    new AgentError({ kind: "invalid-option", option, message: `${of} ${message}` });
  const names: OptionNames<McpServerConfig> | undefined = Object.hasOwn(NAMES, config.type) ? NAMES[config.type] : undefined;
  if (names === undefined)
    throw invalid("type", `has the \`type\` ${JSON.stringify(config.type)}: it must be one of ${Object.keys(NAMES).join(", ")}.`);
  checkOptionNames(of, config, names as OptionNames<typeof config>);
  const needed = config.type === "stdio" ? config.command : config.type === "in-process" ? config.name : config.url;
  const option = config.type === "stdio" ? "command" : config.type === "in-process" ? "name" : "url";
  if (typeof needed !== "string" || needed === "") throw invalid(option, `needs a \`${option}\`.`);
  if (config.type === "stdio" && config.sandbox !== undefined && typeof config.sandbox !== "boolean")
    throw invalid("sandbox", "has a `sandbox` that is neither true nor false.");
  for (const number of NUMBERS) {
    const value = config[number];
    if (value !== undefined && !(Number.isFinite(value) && value > 0))
      throw invalid(number, `has a \`${number}\` that is no number over 0.`);
  }
  if (config.logLevel !== undefined && !MCP_LOG_LEVELS.includes(config.logLevel))
    throw invalid("logLevel", `has the \`logLevel\` ${JSON.stringify(config.logLevel)}: it must be one of ${MCP_LOG_LEVELS.join(", ")}.`);
  if (!("oauth" in config) || config.oauth === undefined) return;
  if (config.authToken !== undefined)
    throw invalid("oauth", "has an `authToken` and `oauth`: give it the one, or the other, which gets tokens by itself.");
  checkOAuthSettings(of, config.oauth);
}
