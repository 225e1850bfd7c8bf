// Loaded before all else by a process that must not reach a network: writes each attempt down, and refuses it.
import { appendFileSync } from "node:fs";
import net from "node:net";

const file = process.env.ATTEMPTS;
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...given) {
  const [options] = Array.isArray(given[0]) ? given[0] : given;
  // A pipe between processes of this machine.
  if (typeof options === "string" || options?.path !== undefined) return connect.apply(this, given);
  appendFileSync(file, `${JSON.stringify(options)}\n`);
  this.destroy(new Error("this process must not reach a network"));
  return this;
};
