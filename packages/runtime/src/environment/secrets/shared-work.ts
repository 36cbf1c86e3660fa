import { EnvironmentError } from "@keelson/protocol";

/** Work that several ask for at once and that is done once. It is cancelled when nobody waits for it any more. */
export interface SharedWork<T> {
  run(key: string, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

interface Flight<T> {
  readonly controller: AbortController;
  readonly result: Promise<T>;
  waiting: number;
}

export function createSharedWork<T>(): SharedWork<T> {
  const flights = new Map<string, Flight<T>>();

  const start = (key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> => {
    const controller = new AbortController();
    const forget = (): void => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    const flight: Flight<T> = { controller, waiting: 0, result: work(controller.signal).finally(forget) };
    // Those who wait hear of a failure; when none is left, nobody has to.
    flight.result.catch(() => {});
    flights.set(key, flight);
    return flight;
  };

  return {
    async run(key, signal, work) {
      if (signal?.aborted === true) throw cancelled(signal);
      const flight = flights.get(key) ?? start(key, work);
      flight.waiting++;
      const { promise: aborted, reject } = Promise.withResolvers<never>();
      const onAbort = (): void => reject(cancelled(signal));
      signal?.addEventListener("abort", onAbort, { once: true });
      try {
        return await Promise.race([flight.result, aborted]);
      } finally {
        signal?.removeEventListener("abort", onAbort);
        flight.waiting--;
        if (flight.waiting === 0) {
          if (flights.get(key) === flight) flights.delete(key);
          flight.controller.abort();
        }
      }
    },
  };
}

function cancelled(signal: AbortSignal | undefined): EnvironmentError {
  return new EnvironmentError({ kind: "cancelled", message: "The request for a credential was cancelled." }, { cause: signal?.reason });
}
