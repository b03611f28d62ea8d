use wirecall_core::*;
fn main(){
 let schema=r#"{"type":"object","properties":{"location":{"type":"string"},"units":{"enum":["metric","imperial"]},"n":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}},"p":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}},"required":["location"]}"#;
 let t=Toolset::new(vec![Definition{name:"getWeather".into(),description:Some("Get it".into()),parameters:schema.into(),strict:false}],Options::default()).unwrap();
 for m in ["hi <call>getWeather location=Austin units=metric</call> bye","<call>getWeather location=New York n=5.0 tags=a,b p.a=x p.b=3</call>","<call>getWeather {\"location\":\"a\",'n':\"7\"}</call>","<call>getWeather location=\"He said \"hi\" to me\"</call>","<call>getWeather [object Object]</call>", "a <call>getWeather location=\"</call><call>x a=1</call>\"</call>","<call>getWeather location = \"x\", units=METRIC</call><call>nope a=1</call>"]{
  println!("{m}"); for i in parse(&t,m,None,false){println!("   {i:?}");}
  let mut p=Parser::new(false); let mut f=|e:Event<'_>|println!("     {e:?}");
  for c in m.chars(){let s=c.to_string();p.feed(&t,&s,&mut f);} p.finish(&t,None,&mut f);
 }
 println!("{}",t.manual(None));
 let v=parse_json(r#"{"location":"New York","n":5,"p":{"a":"1","b":2},"tags":["x y"]}"#,100).unwrap();
 println!("{}",t.encode("getWeather",&v).unwrap());
}
