//! Texts of a form of their own, such as `"45m"`: how they are read and written, and what the
//! schema, the documents and a finding call them.
//!
//! A field says its form with `#[serde(with = "As::<Span>")]`; the schema has the form's name as
//! `x-form`.

use std::marker::PhantomData;
use std::net::SocketAddr;
use std::time::Duration;

use chrono_tz::Tz;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

use crate::duration::{format_duration, parse_duration};
use crate::hours::Hours;

/// A form of text.
pub(crate) trait Form {
    type Value;
    /// What documents call it.
    const NAME: &'static str;
    /// What a finding asks for.
    const WANTED: &'static str;

    /// The value of a text, or the whole finding.
    fn read(text: &str) -> Result<Self::Value, String>;
    fn write(value: &Self::Value) -> String;

    /// The finding of a text that has not this form.
    fn wrong(text: &str) -> String {
        format!("{text:?} is not {}", Self::WANTED)
    }
}

/// A form without its type.
#[derive(Debug)]
pub(crate) struct AnyForm {
    pub name: &'static str,
    pub wanted: &'static str,
    pub check: fn(&str) -> Result<(), String>,
}

/// Every form there is.
pub(crate) const FORMS: &[AnyForm] = &[
    any::<Span>(),
    any::<SomeTime>(),
    any::<TimeOrNever>(),
    any::<Share>(),
    any::<Zone>(),
    any::<Hours>(),
    any::<OwnAddress>(),
    any::<Address>(),
];

const fn any<F: Form>() -> AnyForm {
    AnyForm {
        name: F::NAME,
        wanted: F::WANTED,
        check: |text| F::read(text).map(drop),
    }
}

/// A duration.
pub(crate) struct Span;

impl Form for Span {
    type Value = Duration;
    const NAME: &'static str = "duration";
    const WANTED: &'static str = "a duration in quotes, such as \"45m\"";

    fn read(text: &str) -> Result<Duration, String> {
        parse_duration(text)
    }

    fn write(value: &Duration) -> String {
        format_duration(*value)
    }
}

/// A duration that takes time.
pub(crate) struct SomeTime;

impl Form for SomeTime {
    type Value = Duration;
    const NAME: &'static str = "duration above 0";
    const WANTED: &'static str = Span::WANTED;

    fn read(text: &str) -> Result<Duration, String> {
        match parse_duration(text)? {
            Duration::ZERO => Err(format!("{text:?} is not a duration above 0")),
            time => Ok(time),
        }
    }

    fn write(value: &Duration) -> String {
        format_duration(*value)
    }
}

/// A duration that takes time, or `"never"`.
pub(crate) struct TimeOrNever;

impl Form for TimeOrNever {
    type Value = Option<Duration>;
    const NAME: &'static str = "duration or \"never\"";
    const WANTED: &'static str = "a duration in quotes, such as \"45m\", or \"never\"";

    fn read(text: &str) -> Result<Option<Duration>, String> {
        match text {
            "never" => Ok(None),
            text => SomeTime::read(text).map(Some),
        }
    }

    fn write(value: &Option<Duration>) -> String {
        value.map_or_else(|| "never".to_owned(), format_duration)
    }
}

/// `"25%"`, which is 0.25.
pub(crate) struct Share;

impl Form for Share {
    type Value = f64;
    const NAME: &'static str = "share";
    const WANTED: &'static str = "a share in quotes, from \"0%\" to \"100%\"";

    fn read(text: &str) -> Result<f64, String> {
        let percent = text.strip_suffix('%').map(|number| number.trim().parse());
        match percent {
            Some(Ok(percent)) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
            _ => Err(Self::wrong(text)),
        }
    }

    fn write(value: &f64) -> String {
        // Without the digits that a division leaves behind.
        format!("{}%", (value * 1e8).round() / 1e6)
    }
}

/// A zone of the IANA's.
pub(crate) struct Zone;

impl Form for Zone {
    type Value = Tz;
    const NAME: &'static str = "IANA zone";
    const WANTED: &'static str = "an IANA zone, such as \"Europe/Berlin\"";

    fn read(text: &str) -> Result<Tz, String> {
        text.parse().map_err(|_| Self::wrong(text))
    }

    fn write(value: &Tz) -> String {
        value.to_string()
    }
}

impl Form for Hours {
    type Value = Self;
    const NAME: &'static str = "span of hours";
    const WANTED: &'static str = "a span of hours in quotes, such as \"02:00-05:00\"";

    fn read(text: &str) -> Result<Self, String> {
        text.parse()
    }

    fn write(value: &Self) -> String {
        value.to_string()
    }
}

/// An address that only this machine itself reaches.
pub(crate) struct OwnAddress;

impl Form for OwnAddress {
    type Value = SocketAddr;
    const NAME: &'static str = "address of this machine itself";
    const WANTED: &'static str =
        "an address of this machine itself with a port, such as \"127.0.0.1:7421\"";

    fn read(text: &str) -> Result<SocketAddr, String> {
        match text.parse::<SocketAddr>() {
            Ok(address) if address.ip().is_loopback() => Ok(address),
            _ => Err(Self::wrong(text)),
        }
    }

    fn write(value: &SocketAddr) -> String {
        value.to_string()
    }
}

/// Any address with a port.
pub(crate) struct Address;

impl Form for Address {
    type Value = SocketAddr;
    const NAME: &'static str = "address";
    const WANTED: &'static str = "an address with a port, such as \"127.0.0.1:9420\"";

    fn read(text: &str) -> Result<SocketAddr, String> {
        text.parse().map_err(|_| Self::wrong(text))
    }

    fn write(value: &SocketAddr) -> String {
        value.to_string()
    }
}

/// A field that is written in a form.
pub(crate) struct As<F>(PhantomData<F>);

impl<F: Form> As<F> {
    pub(crate) fn serialize<S: Serializer>(value: &F::Value, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&F::write(value))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<F::Value, D::Error> {
        F::read(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

impl<F: Form> JsonSchema for As<F> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        F::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "x-form": F::NAME})
    }
}

/// The same where it may be left out.
pub(crate) struct Maybe<F>(PhantomData<F>);

impl<F: Form> Maybe<F> {
    pub(crate) fn serialize<S: Serializer>(
        value: &Option<F::Value>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.serialize_str(&F::write(value)),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<F::Value>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        let value = text.map(|text| F::read(&text)).transpose();
        value.map_err(D::Error::custom)
    }
}

impl<F: Form> JsonSchema for Maybe<F> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        F::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "null"], "x-form": F::NAME})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_reaches_an_address_of_its_own() {
        for text in ["127.0.0.1:7421", "127.9.9.9:1", "[::1]:7421"] {
            assert_eq!(OwnAddress::write(&OwnAddress::read(text).unwrap()), text);
        }
        for text in [
            "0.0.0.0:7421",
            "[::]:7421",
            "192.168.1.5:7421",
            "[::ffff:127.0.0.1]:7421",
            "localhost:7421",
            "127.0.0.1",
            "7421",
            "",
        ] {
            let wrong = OwnAddress::read(text).unwrap_err();
            assert!(wrong.contains("127.0.0.1:7421"), "{wrong}");
        }
    }

    #[test]
    fn a_share_reads_back_as_it_was_written() {
        for text in ["0%", "7%", "12.345%", "33.33%", "100%"] {
            assert_eq!(Share::write(&Share::read(text).unwrap()), text);
        }
        for text in ["25", "-1%", "101%", "NaN%", "%"] {
            assert!(Share::read(text).is_err(), "{text}");
        }
    }
}
