// Loaded before all else by a process that must not reach a network: notes each attempt, and refuses it.
import { appendFileSync } from "node:fs";
import { Socket } from "node:net";

const attempts = process.env["ATTEMPTS"] ?? "";
// Called with the socket that it is of.
// oxlint-disable-next-line typescript/unbound-method
const { connect } = Socket.prototype;

/** Connects to pipes alone, which lead to other processes of this machine. Node also passes its arguments as one list. */
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
