// A process that must not reach a network loads this first. It notes and refuses each attempt.
import { appendFileSync } from "node:fs";
import { Socket } from "node:net";

const attempts = process.env["ATTEMPTS"] ?? "";
// Called below with its socket as `this`.
// oxlint-disable-next-line typescript/unbound-method
const { connect } = Socket.prototype;

/** Connects only to pipes, which lead to processes of this machine. Node may pass the arguments as one list. */
function refusing(this: Socket, ...given: unknown[]): Socket {
  const [first] = given;
  const target: unknown = Array.isArray(first) ? first.at(0) : first;
  const isPipe =
    typeof target === "string" ||
    (typeof target === "object" && target !== null && "path" in target && typeof target.path === "string");
  if (isPipe) return Reflect.apply(connect, this, given) as Socket;
  appendFileSync(attempts, `${JSON.stringify(target)}\n`);
  return this.destroy(new Error("this process must not reach a network"));
}

Socket.prototype.connect = refusing;
