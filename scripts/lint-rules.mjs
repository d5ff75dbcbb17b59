/** Rules of this house for oxlint, where none of its own says what we mean. */

/** A cast of the types overrules the compiler, so whoever writes one says beside it why it is true. */
const reasonedCast = {
  meta: {
    type: 'problem',
    messages: {
      bare: 'A cast without a reason: let the type follow (a guard, a schema, `satisfies`), or say why it is true in a comment beside it or on the line above.',
    },
  },
  create(context) {
    const { sourceCode } = context;
    const commented = new Set();
    for (const { type, loc } of sourceCode.getAllComments())
      if (type === 'Line') commented.add(loc.start.line);
    const check = (node) => {
      const { typeAnnotation: type } = node;
      if (type.type === 'TSTypeReference' && type.typeName.name === 'const') return;
      const near = [node.loc.start.line - 1, type.loc.start.line - 1, type.loc.start.line];
      if (near.some((line) => commented.has(line))) return;
      context.report({ node, messageId: 'bare' });
    };
    return { TSAsExpression: check, TSTypeAssertion: check };
  },
};

/** Node 20 collects a timeout that only `AbortSignal.any` knows, and what waits for it waits for ever. */
const lastingLimit = {
  meta: {
    type: 'problem',
    messages: {
      lost: 'A timeout that is joined with another signal is collected, and never comes: use `inTime`.',
    },
  },
  create(context) {
    const joined = [];
    let isTimed = false;
    return {
      MemberExpression(node) {
        if (node.object.name !== 'AbortSignal') return;
        if (node.property.name === 'any') joined.push(node);
        if (node.property.name === 'timeout') isTimed = true;
      },
      'Program:exit'() {
        if (isTimed) for (const node of joined) context.report({ node, messageId: 'lost' });
      },
    };
  },
};

/** Safari knows `(?<=` and `(?<!` from 16.4 on; before, one of them keeps the whole page from being read. */
const oldSafari = {
  meta: {
    type: 'problem',
    messages: {
      behind: 'Safari before 16.4 reads no page with a look behind: take what stands before along.',
    },
  },
  create(context) {
    const check = (node, text) => {
      if (/\(\?<[=!]/.test(text)) context.report({ node, messageId: 'behind' });
    };
    return {
      Literal: (node) => check(node, node.regex?.pattern ?? String(node.value)),
      TemplateElement: (node) => check(node, node.value.raw),
    };
  },
};

// oxlint-disable-next-line import/no-default-export -- oxlint takes a plugin as the default export
export default {
  meta: { name: 'house' },
  rules: { 'reasoned-cast': reasonedCast, 'lasting-limit': lastingLimit, 'old-safari': oldSafari },
};
