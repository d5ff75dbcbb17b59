/** Messages that try to act, to load or to hold up the page. */
export function hostileWords(canary: string): string[] {
  return [
    `<script>window.hit = 1</script> <img src="${canary}/img" onerror="window.hit=1"> ![x](${canary}/markdown)`,
    `[click](javascript:window.hit=1) [data](data:text/html,<script>window.hit=1</script>) [ok](https://example.com/)`,
    `A picture: ![seen](${canary}/picture)`,
    `<a href="${canary}/ping" ping="${canary}/ping2" id="app" class="nav">x</a> <svg><animate onbegin=window.hit=1 attributeName=x></svg>`,
    `<iframe src="${canary}/frame"></iframe><form action="${canary}/form"><button>go</button></form><style>@import url(${canary}/style);</style>`,
    `<math><mtext></table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.hit=1&gt;">`,
    `<div style="background:url(${canary}/css);position:fixed;inset:0">cover</div> <base href="${canary}/"> <meta http-equiv=refresh content="0;url=${canary}/meta">`,
    `[a]: ${canary}/ref "t"\n[a] <link rel=stylesheet href=${canary}/link> <video src=${canary}/video autoplay></video>`,
    `| a | b |\n| --- | --- |\n${'| x | y |\n'.repeat(6_000)}`,
    '['.repeat(20_000),
    `${'> '.repeat(5_000)}deep`,
    '>'.repeat(5_000),
    `${'a.'.repeat(8_000)}@`,
    '*a **b '.repeat(5_000),
    'The last of them.',
  ];
}
