/** Names of this machine that a page from elsewhere can't have for its own. */
const LOCAL = ["localhost", "127.0.0.1", "[::1]"];

export function isLoopback(host: string): boolean {
  return LOCAL.includes(host) || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Which `Host` and `Origin` a request may name: a page that had its own name point here can't pass. */
export interface HostRules {
  /** In words why a request is refused. */
  problemWith(headers: { readonly host?: string | undefined; readonly origin?: string | undefined }): string | undefined;
}

/**
 * @param options.host where the server listens
 * @param options.allowedHosts names, with or without a port. Default: those of this machine where it listens there, else any.
 * @param options.allowedOrigins names or whole origins. Default: of this machine where it listens there, else none.
 */
export function createHostRules(options: {
  readonly host: string;
  readonly allowedHosts?: readonly string[] | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
}): HostRules {
  const local = isLoopback(options.host) ? [...LOCAL, bracketed(options.host)] : undefined;
  const hosts = options.allowedHosts ?? local;
  const origins = options.allowedOrigins ?? local ?? [];
  return {
    problemWith({ host, origin }) {
      const asked = host === undefined ? undefined : placeOf(`http://${host}`);
      if (hosts !== undefined && !(asked !== undefined && (hosts.includes(asked.hostname) || hosts.includes(asked.host))))
        return `The host ${JSON.stringify(host ?? "")} is not one that this server answers for (allowedHosts).`;
      if (origin === undefined) return undefined;
      const from = placeOf(origin);
      if (from !== undefined && (origins.includes(from.hostname) || origins.includes(from.host) || origins.includes(from.origin)))
        return undefined;
      return `Pages of ${JSON.stringify(origin)} may not call this server (allowedOrigins).`;
    },
  };
}

function placeOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
