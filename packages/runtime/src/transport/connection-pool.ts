import type * as Net from "node:net";
import type * as Tls from "node:tls";
import type { HttpAddress } from "./http-address.ts";
import { type ConnectionKeeper, HttpConnection } from "./http-connection.ts";
import type { TlsOptions } from "./tls-options.ts";

/** Unused connections kept of one origin. */
const MAX_IDLE = 256;
/** What one read takes at most. */
const READ_BYTES = 64 * 1024;
/** One for all connections, since each read is taken before the next one begins. */
let readBuffer: Buffer | undefined;
/** How long an unused connection stands before the system asks whether the other side is still there. */
const PROBE_AFTER_MS = 1000;

/** The connections of one origin: the one used last serves next, so that others may grow old and be closed. */
export class ConnectionPool implements ConnectionKeeper {
  readonly idleMs: number;
  readonly #address: HttpAddress;
  readonly #tls: TlsOptions | undefined;
  readonly #idle: HttpConnection[] = [];
  #secureContext: Tls.SecureContext | undefined;
  /** Spares the next handshake most of its work. */
  #session: Buffer | undefined;
  #closed = false;

  constructor(address: HttpAddress, tls: TlsOptions | undefined, idleMs: number) {
    this.#address = address;
    this.#tls = tls;
    this.idleMs = idleMs;
  }

  take(): HttpConnection {
    const now = performance.now();
    for (let kept = this.#idle.pop(); kept !== undefined; kept = this.#idle.pop()) {
      // A process that stood still finds connections older than its timer could tell it.
      if (kept.deadline > now) return kept;
      kept.destroy();
    }
    return this.#address.secure ? this.#connectSecurely() : this.#connect();
  }

  keep(connection: HttpConnection): boolean {
    if (this.#closed || this.#idle.length >= MAX_IDLE) return false;
    this.#idle.push(connection);
    return true;
  }

  drop(connection: HttpConnection): void {
    const at = this.#idle.lastIndexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  /** Closes the unused connections now, and those in use when their answers have ended. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#idle.slice()) connection.destroy();
  }

  #connect(): HttpConnection {
    return new HttpConnection(this, "connect", (read) => net().connect(this.#socketOptions(read)));
  }

  #connectSecurely(): HttpConnection {
    return new HttpConnection(this, "secureConnect", (read) => {
      this.#secureContext ??= tls().createSecureContext(this.#tls);
      const socket = tls().connect({
        ...this.#socketOptions(read),
        // Servers cannot be named by an IP address (RFC 6066, 3).
        servername: net().isIP(this.#address.hostname) === 0 ? this.#address.hostname : "",
        ALPNProtocols: ["http/1.1"],
        ...this.#tls,
        secureContext: this.#secureContext,
        ...(this.#session !== undefined && { session: this.#session }),
      });
      socket.on("session", (session: Buffer) => {
        this.#session = session;
      });
      // Where the session was the reason, the next connection must not fail for it, too.
      socket.once("error", () => {
        this.#session = undefined;
      });
      return socket;
    });
  }

  #socketOptions(read: Net.OnReadOpts["callback"]): Net.TcpNetConnectOpts {
    return {
      host: this.#address.hostname,
      port: this.#address.port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: PROBE_AFTER_MS,
      onread: { buffer: (readBuffer ??= Buffer.allocUnsafeSlow(READ_BYTES)), callback: read },
    };
  }
}

function net(): typeof Net {
  return process.getBuiltinModule("node:net");
}

function tls(): typeof Tls {
  return process.getBuiltinModule("node:tls");
}
