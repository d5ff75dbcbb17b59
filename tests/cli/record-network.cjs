// Preloaded into the installed program: writes down every place it tries to reach that is not this machine.
const { appendFileSync } = require('node:fs');
const net = require('node:net');
const dns = require('node:dns');

const file = process.env.NETWORK_RECORD;
const isHere = (host) => /^(localhost|127\.|::1$)/.test(host ?? 'localhost');

const { value: connect } = Object.getOwnPropertyDescriptor(net.Socket.prototype, 'connect');
net.Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  appendFileSync(file, `${options.path ?? options.host ?? 'localhost'}\n`);
  return connect.apply(this, args);
};
for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
  const original = dns[name];
  dns[name] = function (host, ...rest) {
    if (!isHere(host)) appendFileSync(file, `dns ${host}\n`);
    return original.call(this, host, ...rest);
  };
}
