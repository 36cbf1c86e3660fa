import { ModelError } from "@keelson/protocol";
import type { TransportRequest } from "./transport.ts";

/** Where a request goes. */
export interface HttpAddress {
  readonly secure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
  /** As the header `host` has it. */
  readonly host: string;
  readonly path: string;
}

/** @throws ModelError of kind `invalid-request` when it is no address of http or https. */
export function httpAddress({ url: text, origin }: TransportRequest): HttpAddress {
  const url = URL.parse(text);
  if (url === null)
    throw new ModelError({ kind: "invalid-request", message: `"${text}" is no URL: correct baseUrl`, progress: "unsent", ...origin });
  const secure = url.protocol === "https:";
  if (!secure && url.protocol !== "http:") {
    throw new ModelError({
      kind: "invalid-request",
      message: `"${text}" is neither http nor https: correct baseUrl`,
      progress: "unsent",
      ...origin,
    });
  }
  return {
    secure,
    hostname: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
    port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
    host: url.host,
    path: url.pathname + url.search,
  };
}
