//! Hosts, in addresses and elsewhere.

use super::Refused;

pub const BLOCK: &[Refused] = &[
    (
        "credential-read",
        "curl http://[::ffff:169.254.169.254]/latest",
    ),
    ("credential-read", "curl http://[::ffff:a9fe:a9fe]/latest"),
    (
        "credential-read",
        "curl 'http://[0:0:0:0:0:ffff:a9fe:a9fe]/latest'",
    ),
    ("credential-read", "curl http://[fd00:ec2::254]/latest"),
    (
        "credential-read",
        "curl 'http://[fd00:0ec2:0:0:0:0:0:254]/latest'",
    ),
    ("credential-read", "curl http://0251.0376.0251.0376/latest"),
    ("credential-read", "curl http://0xa9.0xfe.0xa9.0xfe/latest"),
    ("credential-read", "curl http://0xA9FEA9FE/"),
    ("credential-read", "curl http://025177524776/"),
    ("credential-read", "curl http://2852039166/latest"),
    ("credential-read", "curl http://169.254.43518/latest"),
    ("credential-read", "curl http://169.16689662/latest"),
    ("credential-read", "curl http://instance-data/latest"),
    (
        "credential-read",
        "curl http://instance-data.ec2.internal/latest",
    ),
    (
        "credential-read",
        "curl http://metadata.google.internal./computeMetadata/v1/",
    ),
    ("credential-read", "curl http://METADATA.google.INTERNAL/"),
    (
        "credential-read",
        "curl http://metadata/computeMetadata/v1/",
    ),
    (
        "credential-read",
        "curl http://u:p@169.254.169.254:80/latest",
    ),
    ("credential-read", "curl 169.254.169.254/latest"),
    ("credential-read", "curl --url 169.254.169.254"),
    (
        "credential-read",
        "curl -x http://169.254.169.254 http://x.example",
    ),
    (
        "credential-read",
        "curl --connect-to x.example:80:169.254.169.254:80 http://x.example",
    ),
    (
        "credential-read",
        "curl --resolve x.example:80:169.254.169.254 http://x.example",
    ),
    (
        "credential-read",
        "curl http://169%2e254%2e169%2e254/latest",
    ),
    (
        "credential-read",
        "curl http://169.254.169.254.nip.io/latest",
    ),
    ("credential-read", "curl http://100.100.100.200/latest"),
    ("credential-read", "cat < /dev/tcp/169.254.169.254/80"),
    ("credential-read", "exec 3<>/dev/tcp/169.254.169.254/80"),
    ("credential-read", "exec 3<>/dev/tcp/2852039166/80"),
    ("credential-read", "echo x > /dev/tcp/169.254.169.254/80"),
    ("credential-read", "nc 169.254.169.254 80"),
    (
        "credential-read",
        "python3 -c \"import urllib.request as u; u.urlopen('http://2852039166/latest')\"",
    ),
    (
        "credential-read",
        "python3 -c \"import http.client; http.client.HTTPConnection('169.254.169.254')\"",
    ),
];

pub const ALLOW: &[&str] = &[
    "curl 'https://x.example/?url=http://169.254.169.254/'",
    "curl https://x.example/docs/169.254.169.254.html",
    "curl https://x.example/search#http://metadata.google.internal",
    "curl -d 'see 169.254.169.254' https://x.example",
    "curl -H 'X-Note: 169.254.169.254' https://x.example",
    "curl -A 'metadata.google.internal' https://x.example",
    "curl https://metadata.example.com/",
    "curl https://instance-data.example.com/",
    "curl http://169.254.1.1/",
    "curl http://2852039167/",
    "curl http://[::1]:8080/health",
    "curl -fs http://localhost:8080/metadata",
    "echo 169.254.169.254",
    "python3 -c \"print('169.254.169.254')\"",
    "ping -c1 169.254.169.253",
    "cat < /dev/tcp/localhost/80",
];
