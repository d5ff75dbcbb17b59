/** The style of the page; the page's policy names it by its hash. */
export const SETUP_STYLE = `
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 680px; padding: 24px 20px 60px; font: 17px/1.5 system-ui, sans-serif; background: Canvas; color: CanvasText; }
h1 { font-size: 27px; line-height: 1.2; margin: 12px 0; }
details { border: 1px solid #8886; border-radius: 14px; margin: 12px 0; padding: 0 18px; }
summary { font-weight: 600; min-height: 52px; line-height: 52px; cursor: pointer; }
li { margin: 10px 0; }
a.button { display: inline-block; min-height: 44px; line-height: 44px; padding: 0 20px; border-radius: 12px; background: #1f5fd6; color: #fff; font-weight: 600; text-decoration: none; }
code { overflow-wrap: anywhere; font-size: 14px; }
.small { font-size: 15px; opacity: .8; }
`;

/** The steps by which a device comes to trust the hub, for each kind of device. */
export function setupHtml({ dashboard, fingerprint }: { dashboard: string; fingerprint: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Trust this Parley hub</title>
<style>${SETUP_STYLE}</style>
</head>
<body>
<main>
<h1>Let this device trust your Parley hub</h1>
<p>Once for each device. The hub has a certificate authority of its own; a device that has installed it opens the dashboard without a warning. It can vouch for names and addresses of local networks only.</p>
<p class="small">Compare first: the terminal of <code>parley serve --lan</code> shows the same fingerprint.<br><code>${fingerprint}</code></p>
<details open>
<summary>iPad and iPhone</summary>
<ol>
<li>In Safari: <a class="button" href="/parley.mobileconfig">Get the profile</a> and tap Allow.</li>
<li>Settings › General › VPN &amp; Device Management › Parley › Install.</li>
<li>Settings › General › About › Certificate Trust Settings: switch Parley on. Without this step Safari goes on warning.</li>
<li>Point the camera at the second picture in the terminal: it signs you in.</li>
</ol>
</details>
<details>
<summary>Android</summary>
<ol>
<li><a class="button" href="/parley.crt">Get the certificate</a></li>
<li>Settings › Security &amp; privacy › More security settings › Encryption &amp; credentials › Install a certificate › CA certificate. Names differ a little; the search of the settings finds “CA certificate”.</li>
<li>Choose parley.crt among the downloads.</li>
<li>Point the camera at the second picture in the terminal.</li>
</ol>
</details>
<details>
<summary>Mac</summary>
<ol>
<li><a class="button" href="/parley.crt">Get the certificate</a> and open it: Keychain Access takes it.</li>
<li>Double-click Parley there, open Trust, and choose Always Trust.</li>
</ol>
<p>Or in a terminal: <code>sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain parley.crt</code></p>
</details>
<details>
<summary>Windows</summary>
<ol>
<li><a class="button" href="/parley.crt">Get the certificate</a> and open it.</li>
<li>Install Certificate › Current User › Place all certificates in the following store › Trusted Root Certification Authorities.</li>
</ol>
<p>Or in a terminal: <code>certutil -user -addstore Root parley.crt</code></p>
</details>
<details>
<summary>Linux, and Firefox everywhere</summary>
<ol>
<li><a class="button" href="/parley.pem">Get the certificate</a></li>
<li>Chromium: <code>certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n parley -i parley.pem</code></li>
<li>Firefox: Settings › Privacy &amp; Security › Certificates › View Certificates › Authorities › Import, for websites.</li>
</ol>
</details>
<p><a class="button" href="${dashboard}/">Open the dashboard</a></p>
<p class="small">To take it back, remove the profile or the certificate at the same place.</p>
</main>
</body>
</html>
`;
}
